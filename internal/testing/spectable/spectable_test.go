package spectable

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the tables of "+PagePath)

var (
	root     = "../../.."
	specTest = regexp.MustCompile(`^TestSpec((?:[RCW]\d+)+|Context)(?:[A-Z]|$)`)
	ruleID   = regexp.MustCompile(`[RCW]\d+`)
)

// functions are the names of all test functions that name a rule or a context, with their package's
// folder, in the order of the names.
func functions(t *testing.T) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			if err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path.Join(root, p), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && specTest.MatchString(fn.Name.Name) {
				all = append(all, path.Base(path.Dir(p))+"."+fn.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// TestEveryRuleIsNamed: the table has each id once, in order, and lists exactly the functions with
// this id at the beginning of their names.
func TestEveryRuleIsNamed(t *testing.T) {
	var ids []string
	for i := 1; i <= 68; i++ {
		ids = append(ids, "R"+strconv.Itoa(i))
	}
	for i := 1; i <= 11; i++ {
		ids = append(ids, "C"+strconv.Itoa(i))
	}
	for i := 1; i <= 24; i++ {
		ids = append(ids, "W"+strconv.Itoa(i))
	}
	var got []string
	named := map[string][]string{}
	for _, fn := range functions(t) {
		_, name, _ := strings.Cut(fn, ".")
		for _, id := range ruleID.FindAllString(specTest.FindStringSubmatch(name)[1], -1) {
			named[id] = append(named[id], fn)
		}
	}
	for _, r := range Rules() {
		got = append(got, r.ID)
		if !slices.Equal(named[r.ID], r.Tests) {
			t.Errorf("%s: the table lists %v, the repository has %v", r.ID, r.Tests, named[r.ID])
		}
		if len(r.Tests) == 0 {
			t.Errorf("%s names no test", r.ID)
		}
		delete(named, r.ID)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("the table has %v", got)
	}
	for id, fns := range named {
		t.Errorf("there is no rule %s, which %v name", id, fns)
	}
}

// TestContextsAreTested: the rows of the contexts list exactly the existing functions, besides tests
// of rules.
func TestContextsAreTested(t *testing.T) {
	all := functions(t)
	listed := map[string]bool{}
	for _, c := range Contexts() {
		if len(c.Tests) == 0 {
			t.Errorf("%s: no test", c.Calls)
		}
		for _, fn := range c.Tests {
			listed[fn] = true
			if !slices.Contains(all, fn) {
				t.Errorf("%s: there is no %s", c.Calls, fn)
			}
		}
	}
	for _, fn := range all {
		if strings.Contains(fn, ".TestSpecContext") && !listed[fn] {
			t.Errorf("no row of the contexts lists %s", fn)
		}
	}
}

// TestGapsNameTestsAndRules: a gap belongs to a test that exists, and a rule is marked as broken
// iff a gap names the rule.
func TestGapsNameTestsAndRules(t *testing.T) {
	all := functions(t)
	broken := map[string]bool{}
	for _, g := range Gaps() {
		if !slices.Contains(all, g.Test) {
			t.Errorf("a gap of %s, which does not exist", g.Test)
		}
		if _, err := regexp.Compile(g.Says); err != nil || !strings.HasSuffix(g.Why, ".") {
			t.Errorf("gap of %s: %v, %q", g.Test, err, g.Why)
		}
		for _, id := range ruleID.FindAllString(g.Rules, -1) {
			broken[id] = true
		}
	}
	for _, r := range Rules() {
		if broken[r.ID] != (r.Status == Broken) {
			t.Errorf("%s: a gap names it: %v, status %d", r.ID, broken[r.ID], r.Status)
		}
	}
}

// TestPageShowsTheTables, letter by letter; -update writes them.
func TestPageShowsTheTables(t *testing.T) {
	name := path.Join(root, PagePath)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, want := range Tables() {
		from, to := find(page, want.Heading)
		switch {
		case from < 0:
			t.Errorf("the page has no table below %q", want.Heading)
		case *update:
			page = page[:from] + want.Text + page[to:]
		case page[from:to] != want.Text:
			t.Errorf("below %q the page shows\n%s\nthe table is\n%s", want.Heading, page[from:to], want.Text)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// find returns where the first table below a heading begins and ends.
func find(page, heading string) (from, to int) {
	at := strings.Index(page, heading+"\n")
	if at < 0 {
		return -1, -1
	}
	from = strings.Index(page[at:], "\n|")
	next := strings.Index(page[at+1:], "\n## ")
	if from < 0 || next >= 0 && from > next {
		return -1, -1
	}
	from += at + 1
	to = from
	for to < len(page) && page[to] == '|' {
		to += strings.Index(page[to:]+"\n", "\n") + 1
	}
	return from, min(to, len(page))
}

// notes is the T of a test under test.
type notes struct{ errs, logs []string }

func (n *notes) Helper()                   {}
func (n *notes) Errorf(f string, a ...any) { n.errs = append(n.errs, fmt.Sprintf(f, a...)) }
func (n *notes) Logf(f string, a ...any)   { n.logs = append(n.logs, fmt.Sprintf(f, a...)) }

// TestGapsExcuseOnlyWhatTheySay, and end with their reason.
func TestGapsExcuseOnlyWhatTheySay(t *testing.T) {
	gaps := []Gap{{Test: "x.TestA", Says: `^lost \d+$`, Why: "Because."}, {Test: "x.TestB", Says: `^.*$`, Why: "Else."},
		{Test: "x.TestD", Says: `^lost$`, Why: "Rarely.", Rare: true}}
	for _, c := range []struct {
		test       string
		said       []string
		errs, logs int
	}{
		{"x.TestA", []string{"lost 3", "lost 4"}, 0, 1},
		{"x.TestA", []string{"lost 3", "wrong"}, 1, 1},
		{"x.TestA", nil, 1, 0}, // the gap is closed
		{"x.TestC", []string{"lost 3"}, 1, 0},
		{"x.TestC", nil, 0, 0},
		{"x.TestD", nil, 0, 0},
		{"x.TestD", []string{"lost", "wrong"}, 1, 1},
	} {
		var said Complaints
		for _, line := range c.said {
			said.Errorf("%s", line)
		}
		var n notes
		said.Judge(&n, c.test, gaps)
		if len(n.errs) != c.errs || len(n.logs) != c.logs {
			t.Errorf("%s said %q: errors %q, notes %q", c.test, c.said, n.errs, n.logs)
		}
	}
}

// TestExpectIsComplete: every class has an outcome in every state, errors of failure name a dead
// rank, and exempt classes never raise revoked.
func TestExpectIsComplete(t *testing.T) {
	cells := 0
	for c := Buffered; c <= Ending; c++ {
		for _, st := range States() {
			e := Expect(c, st)
			cells++
			failure := slices.Contains(e.Outcomes, Failed) || slices.Contains(e.Outcomes, Pending)
			if len(e.Outcomes) == 0 || slices.Contains(e.Outcomes, Other) || failure && len(e.Ranks) == 0 {
				t.Errorf("class %d, %s: %+v", c, st.Name, e)
			}
			for _, r := range e.Ranks {
				if !slices.Contains(st.Dead, r) {
					t.Errorf("class %d, %s: blames rank %d", c, st.Name, r)
				}
			}
			if slices.Contains(e.Outcomes, Revoked) && (exempt(c) || st.Revoked == Never) {
				t.Errorf("class %d, %s: revoked", c, st.Name)
			}
			if slices.Contains(e.Outcomes, Pending) && c != WildPosted {
				t.Errorf("class %d, %s: pending", c, st.Name)
			}
		}
	}
	if cells != len(States())*(int(Ending)+1) {
		t.Errorf("%d cells", cells)
	}
}
