package spectable

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	citedRow  = regexp.MustCompile(`(?m)^\| ([ABFV]\d+) \| (.*) \|$`)
	ofPackage = regexp.MustCompile("^ *(\\w+): ((?:`[\\w.]+` ?)+)$")
	testSpan  = regexp.MustCompile("`([\\w.]+)`")
)

// TestProtocolRulesNameTheirTests reads the tables A, B, F and V on the page: each rule names tests
// that exist, and each test of A, B and F cites its rule.
func TestProtocolRulesNameTheirTests(t *testing.T) {
	page, err := os.ReadFile(path.Join(root, PagePath))
	require.NoError(t, err)
	assert.Empty(t, wrongRows(string(page), testSources(t)))
}

// TestWrongRows shows that each mistake in a row is found.
func TestWrongRows(t *testing.T) {
	sources := map[string]string{"era.TestA": "// TestA is A1.", "fd.s.txt": "# B1: a script"}
	for _, c := range []struct{ row, want string }{
		{"| A1 | A rule. | era: `TestA` |", ""},
		{"| B1 | A rule. | fd: `s.txt` |", ""},
		{"| V1 | A rule. | era: `TestA` |", ""},
		{"| A1 | A rule. |  |", "A1 names no test"},
		{"| A1 | A rule. |", "A1 names no test"},
		{"| A1 | A rule. | TestA |", `A1: "TestA" has not the form`},
		{"| A1 | A rule. | era: `TestB` |", "A1: there is no era.TestB"},
		{"| V1 | A rule. | era: `TestB` |", "V1: there is no era.TestB"},
		{"| A2 | A rule. | era: `TestA` |", "A2: era.TestA does not cite it"},
		{"| A11 | A rule. | era: `TestA` |", "A11: era.TestA does not cite it"},
	} {
		got := wrongRows(c.row+"\n", sources)
		if c.want == "" {
			assert.Empty(t, got, c.row)
		} else if assert.Len(t, got, 1, c.row) {
			assert.Contains(t, got[0], c.want)
		}
	}
}

// wrongRows returns the mistakes in the rows of rules A, B, F and V. The last cell of a row lists
// tests as [byPackage] prints them; a name that ends with ".txt" is a script in testdata.
func wrongRows(page string, sources map[string]string) []string {
	var wrong []string
	for _, m := range citedRow.FindAllStringSubmatch(page, -1) {
		_, cell, _ := strings.Cut(m[2], " | ")
		id, cell := m[1], strings.TrimSpace(cell)
		if cell == "" {
			wrong = append(wrong, id+" names no test")
			continue
		}
		for part := range strings.SplitSeq(cell, ";") {
			list := ofPackage.FindStringSubmatch(part)
			if list == nil {
				wrong = append(wrong, fmt.Sprintf("%s: %q has not the form \"package: `Test`\"", id, part))
				continue
			}
			for _, span := range testSpan.FindAllStringSubmatch(list[2], -1) {
				wrong = append(wrong, wrongTest(id, list[1]+"."+span[1], sources)...)
			}
		}
	}
	return wrong
}

func wrongTest(id, name string, sources map[string]string) []string {
	source, found := sources[name]
	switch {
	case !found:
		return []string{fmt.Sprintf("%s: there is no %s", id, name)}
	case id[0] != 'V' && !regexp.MustCompile(`(^|[^A-Za-z0-9]|Test|TestSpec)`+id+`($|[^0-9])`).MatchString(source):
		return []string{fmt.Sprintf("%s: %s does not cite it", id, name)}
	}
	return nil
}

// testSources maps "package.Test" to the comment and source of a test function, and
// "package.name.txt" to a script in the testdata of a package. Packages are named by their folders;
// the sources of tests with equal names are joined.
func testSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		dir, script := path.Dir(p), strings.HasSuffix(p, ".txt") && path.Base(path.Dir(p)) == "testdata"
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir(), !script && !strings.HasSuffix(p, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path.Join(root, p))
		if err != nil || script {
			sources[path.Base(path.Dir(dir))+"."+d.Name()] += string(text)
			return err
		}
		return addFunctions(sources, path.Base(dir), string(text))
	})
	require.NoError(t, err)
	require.Greater(t, len(sources), 1000, "found "+strconv.Itoa(len(sources)))
	return sources
}

func addFunctions(sources map[string]string, pkg, text string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
			continue
		}
		from := fn.Pos()
		if fn.Doc != nil {
			from = fn.Doc.Pos()
		}
		sources[pkg+"."+fn.Name.Name] += text[files.Position(from).Offset:files.Position(fn.End()).Offset]
	}
	return nil
}
