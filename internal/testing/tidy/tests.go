package tidy

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Files that the checks of tests read.
const (
	HackingPath = "docs/HACKING.md"
	basePath    = "internal/testing/tidy/testdata/tests.txt"   // the tests of a former revision
	renamedPath = "internal/testing/tidy/testdata/renamed.txt" // the tests that have moved since
)

// longPackage separates the long tests from the others.
const longPackage = "internal/testing/longtest"

// TestFunc is a function that the go command runs as a test, an example or a fuzz target.
type TestFunc struct {
	Package string // slash-separated folder, from the root
	Name    string
	Long    bool // it calls the package longtest, so that some of it runs only with GOULFM_LONG=1
	decl    *ast.FuncDecl
}

// String prints the test as one line of the lists.
func (f TestFunc) String() string { return f.Package + " " + f.Name }

var testName = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)

// Tests returns the tests of all modules, of all platforms and build tags, in order.
func Tests(t *Tree) []TestFunc {
	var all []TestFunc
	for _, p := range t.Packages {
		for _, f := range p.Files {
			for _, d := range f.AST.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && f.Test && d.Recv == nil && d.Name.Name != "TestMain" && testName.MatchString(d.Name.Name) {
					all = append(all, TestFunc{p.Dir, d.Name.Name, t.callsLong(f, d), d})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b TestFunc) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(all, func(a, b TestFunc) bool { return a.String() == b.String() }) // one name under two tags
}

// callsLong reports whether the node uses a function of the package longtest.
func (t *Tree) callsLong(f *File, n ast.Node) bool {
	if !f.imports(t.Module + "/" + longPackage) {
		return false
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == path.Base(longPackage) && slices.Contains([]string{"Skip", "N", "On", "Row"}, s.Sel.Name) {
				found = true
			}
		}
		return !found
	})
	return found
}

func (f *File) imports(importPath string) bool {
	return slices.ContainsFunc(f.AST.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(importPath) })
}

// LostTests compares the tests with those of a former revision: each is still there, or the list of
// renamed tests has its new name. A line "old -> new" of that list names packages, or a package and
// a test on both sides.
func LostTests(t *Tree) ([]Finding, error) {
	base, err := fs.ReadFile(t.Files, basePath)
	if err != nil {
		return nil, err
	}
	renamed, err := readRenamed(t.Files)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, f := range Tests(t) {
		there[f.String()] = true
	}
	var found []Finding
	for _, was := range strings.Split(strings.TrimSpace(string(base)), "\n") {
		if now := renamed.follow(was); !there[now] {
			found = append(found, Finding{was, fmt.Sprintf("no test %q: list where it went in %s", now, renamedPath)})
		}
	}
	return found, nil
}

// renames are the names of tests and packages, by their former names.
type renames map[string]string

func readRenamed(files fs.FS) (renames, error) {
	text, err := fs.ReadFile(files, renamedPath)
	if err != nil {
		return nil, err
	}
	r := renames{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		from, to, ok := strings.Cut(line, " -> ")
		if !ok || r[from] != "" || len(strings.Fields(from)) != len(strings.Fields(to)) {
			return nil, fmt.Errorf("%s:%d: %q is no new line of the form OLD -> NEW", renamedPath, i+1, line)
		}
		r[from] = to
	}
	return r, nil
}

// follow returns the present name of a test. Each name is replaced once: a circle is no loop.
func (r renames) follow(test string) string {
	for range r {
		pkg, name, _ := strings.Cut(test, " ")
		switch {
		case r[test] != "":
			test = r[test]
		case r[pkg] != "":
			test = r[pkg] + " " + name
		default:
			return test
		}
	}
	return test
}

// LongTests requires that HACKING.md lists the long tests, and that tests call the package longtest
// themselves, since the list would lack a test whose helper does.
func LongTests(t *Tree) ([]Finding, error) {
	page, err := fs.ReadFile(t.Files, HackingPath)
	if err != nil {
		return nil, err
	}
	var found []Finding
	if !strings.Contains(string(page), LongList(t)) {
		found = append(found, Finding{HackingPath, "the list of long tests is old: go test ./internal/testing/tidy -run LongTests -update"})
	}
	inTests := map[ast.Decl]bool{}
	for _, f := range Tests(t) {
		inTests[f.decl] = true
	}
	for _, p := range t.Packages {
		for _, f := range p.Files {
			for _, d := range f.AST.Decls {
				if p.Dir != longPackage && !inTests[d] && t.callsLong(f, d) {
					found = append(found, t.finding(d, "call the package longtest in the test function itself"))
				}
			}
		}
	}
	return found, nil
}

// The list of long tests in HACKING.md lies between these lines.
const longBegin, longEnd = "<!-- long tests -->\n", "<!-- end of long tests -->\n"

// LongList returns the part of HACKING.md that lists the long tests.
func LongList(t *Tree) string {
	const width = 110
	var b strings.Builder
	b.WriteString(longBegin + "```text\n")
	at := ""
	column := 0
	for _, f := range Tests(t) {
		if !f.Long || f.Package == longPackage {
			continue
		}
		if f.Package != at {
			if at != "" {
				b.WriteByte('\n')
			}
			at, column = f.Package, len(f.Package)+1
			b.WriteString(at + ":")
		}
		if column+1+len(f.Name) > width {
			b.WriteString("\n   ")
			column = 3
		}
		b.WriteString(" " + f.Name)
		column += 1 + len(f.Name)
	}
	if at != "" {
		b.WriteByte('\n')
	}
	b.WriteString("```\n" + longEnd)
	return b.String()
}

// withLongList returns the page with the present list of long tests.
func withLongList(t *Tree, page string) (string, error) {
	return withPart(HackingPath, page, longBegin, LongList(t), longEnd)
}

// withPart returns the page with part in place of the text from the line begin to the line end.
// part contains both lines.
func withPart(path, page, begin, part, end string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("%s: no %q with %q after it", path, begin, end)
	}
	return before + part + after, nil
}

// ModulesRun requires that a target of the Makefile runs the tests of each module.
func ModulesRun(t *Tree) ([]Finding, error) {
	makefile, err := fs.ReadFile(t.Files, "Makefile")
	if err != nil {
		return nil, err
	}
	var found []Finding
	missed := map[string]bool{}
	for _, f := range Tests(t) {
		dir := t.moduleOf(f.Package)
		if dir != "." && !missed[dir] && !regexp.MustCompile(`(?m)^\tcd `+regexp.QuoteMeta(dir)+` && .*\$\(GOTEST\).* \./\.\.\.$`).Match(makefile) {
			missed[dir] = true
			found = append(found, Finding{"Makefile", "no target runs the tests of the module " + dir})
		}
	}
	return found, nil
}

// moduleOf returns the folder of the module that a package belongs to.
func (t *Tree) moduleOf(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := fs.Stat(t.Files, path.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return dir
}
