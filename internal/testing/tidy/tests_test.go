package tidy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoTestIsLost(t *testing.T) {
	tree, _ := repository(t)
	found, err := LostTests(tree)
	report(t, found, err)
	found, err = ModulesRun(tree)
	report(t, found, err)
}

func TestLongTestsAreListed(t *testing.T) {
	tree, _ := repository(t)
	if *update {
		file := filepath.Join("../../..", HackingPath)
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		text, err := withLongList(tree, string(page))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
	found, err := LongTests(tree)
	report(t, found, err)
}

const someTests = `package era

import "testing"

func TestMain(m *testing.M) {}

func TestA(t *testing.T) {}

func FuzzB(f *testing.F) {}

func ExampleC() {}

func Testify() {}

func (x) TestMethod(t *testing.T) {}

func BenchmarkD(b *testing.B) {}
`

func TestLostTestsOnFakeTrees(t *testing.T) {
	for _, c := range []struct {
		name, base, renamed string
		want                []string
	}{
		{"the same", "era ExampleC\nera FuzzB\nera TestA\n", "", nil},
		{"new ones", "era TestA\n", "", nil},
		{"lost", "era TestA\nera TestZ\n", "", []string{`era TestZ: no test "era TestZ"`}},
		{"no tests", "era TestMain\nera Testify\nera TestMethod\nera BenchmarkD\n", "", []string{"era TestMain:", "era Testify:", "era TestMethod:", "era BenchmarkD:"}},
		{"in a file without tests", "fd TestA\n", "", []string{"fd TestA:"}},
		{"renamed", "era TestZ\n", "# why\n\nera TestZ -> era TestA\n", nil},
		{"moved with its package", "old TestA\n", "old -> era\n", nil},
		{"renamed, then moved", "old TestZ\n", "old TestZ -> old TestA\nold -> era\n", nil},
		{"renamed to nothing", "era TestZ\n", "era TestZ -> era TestY\n", []string{`no test "era TestY"`}},
		{"in a circle", "era TestY\n", "era TestZ -> era TestY\nera TestY -> era TestZ\n", []string{"era TestY:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{
				"era/a_test.go": someTests, "fd/a.go": "package fd\n\nfunc TestA() {}\n", basePath: c.base, renamedPath: c.renamed,
			})
			found, err := LostTests(tree)
			require.NoError(t, err)
			want(t, found, c.want...)
		})
	}
	for _, wrong := range []string{"era TestZ", "era -> era TestA", "a -> b\na -> c"} {
		tree, _ := fake(t, map[string]string{basePath: "era TestA\n", renamedPath: wrong})
		_, err := LostTests(tree)
		require.ErrorContains(t, err, "OLD -> NEW")
	}
}

func TestLongTestsOnFakeTrees(t *testing.T) {
	const head = "package era\n\nimport (\n\t\"testing\"\n\n\t\"example.org/m/internal/testing/longtest\"\n)\n\n"
	const first = head + "func TestA(t *testing.T) { longtest.Skip(t, \"x\") }\n\nfunc TestB(t *testing.T) { f(longtest.N(1, 2)) }\n\nfunc TestC(t *testing.T) {}\n"
	listed := longBegin + "```text\nera: TestA TestB\n```\n" + longEnd
	for _, c := range []struct {
		name, source, page string
		want               []string
	}{
		{"listed", first, "# Page\n\n" + listed + "more\n", nil},
		{"not listed", first, "# Page\n", []string{"the list of long tests is old"}},
		{"one too many", head + "func TestA(t *testing.T) { longtest.Skip(t, \"x\") }\n", listed, []string{"the list of long tests is old"}},
		{"in a helper", first + "\nfunc helper(t *testing.T) { longtest.Skip(t, \"x\") }\n", listed, []string{"era/a_test.go:15: call the package longtest in the test function itself"}},
		{"another long", "package era\n\nfunc TestA(t *testing.T) { longtest.Skip(t, \"x\") }\n", longBegin + "```text\n```\n" + longEnd, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{"era/a_test.go": c.source, HackingPath: c.page})
			found, err := LongTests(tree)
			require.NoError(t, err)
			want(t, found, c.want...)
		})
	}
	tree, _ := fake(t, map[string]string{"era/a_test.go": first})
	page, err := withLongList(tree, "before\n"+longBegin+"old\n"+longEnd+"after\n")
	require.NoError(t, err)
	require.Equal(t, "before\n"+listed+"after\n", page)
	_, err = withLongList(tree, longEnd+longBegin)
	require.Error(t, err)
}

func TestModulesRunOnFakeTrees(t *testing.T) {
	for _, c := range []struct{ name, makefile, want string }{
		{"run", "test:\n\tcd rpc && go vet ./... && $(GOTEST) -short ./...\n", ""},
		{"not run", "test:\n\t$(GOTEST) ./...\n", "no target runs the tests of the module rpc"},
		{"one package alone", "test:\n\tcd rpc && $(GOTEST) ./a\n", "no target runs the tests of the module rpc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{
				"era/a_test.go": someTests, "rpc/go.mod": "module x\n", "rpc/a/a_test.go": someTests, "rpc/b/a_test.go": someTests,
				"tools/go.mod": "module y\n", "tools/a.go": "package tools\n", "Makefile": c.makefile,
			})
			found, err := ModulesRun(tree)
			require.NoError(t, err)
			if c.want == "" {
				want(t, found)
			} else {
				want(t, found, c.want)
			}
		})
	}
}
