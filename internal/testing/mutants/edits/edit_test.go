package edits

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheList: each edit has a unique name, states its rule and the worlds or tests that must
// find it, and its old text is in the file exactly once.
func TestTheList(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, e := range All() {
		assert.False(t, names[e.Name], "two edits are called %q", e.Name)
		names[e.Name] = true
		assert.True(t, e.Name != "" && e.Rule != "", "%q is incomplete", e.Name)
		assert.True(t, len(e.Tests) > 0 || e.Hunt.Arena != "", "nothing must find %q", e.Name)
		assert.Equal(t, e.Hunt.Arena != "", len(e.Hunt.Breaks) > 0, e.Name)
		for _, test := range e.Tests {
			assert.NotEmpty(t, test.Run, e.Name)
			if test.Script != "" {
				assert.FileExists(t, filepath.Join("testdata", test.Script), e.Name)
			}
		}
		changed, err := e.Apply(root)
		assert.NoError(t, err)
		for file, text := range changed {
			right, err := os.ReadFile(filepath.Join(root, file))
			assert.True(t, err == nil || errors.Is(err, fs.ErrNotExist), "%s: %v", e.Name, err)
			assert.False(t, bytes.Equal(right, text), "%s changes nothing in %s", e.Name, file)
		}
	}
}

// module writes a module with two functions, a test of each, and one program, and returns its
// folder.
func module(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26\n",
		"p/p.go":      "package p\n\nfunc Three() int { return 3 }\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestThree(t *testing.T) {\n\tif Three() != 3 {\n\t\tt.Fatal(\"not three\")\n\t}\n}\n",
		"q/q.go":      "package q\n\nimport \"m/p\"\n\nfunc Four() int { return p.Three() + 1 }\n",
		"q/q_test.go": "package q\n\nimport \"testing\"\n\nfunc TestFour(t *testing.T) {\n\tif Four() != 4 {\n\t\tpanic(\"not four\")\n\t}\n}\n",
		"c/c.go":      "package main\n\nimport \"m/p\"\n\nfunc main() { print(p.Three()) }\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func two() Edit {
	return Edit{Name: "two", Changes: []Change{{File: "p/p.go", Old: "return 3", New: "return 2"}}}
}

// TestTry: Try finds a test that fails with the edit, also in another package. A test that does
// not fail, or that fails for another reason than the given one, finds nothing. An edit that
// does not compile, a missing file or text, a text that occurs three times, an added file that is
// there already, and a missing test are errors. The file itself is unchanged.
func TestTry(t *testing.T) {
	dir, bug := module(t), two()
	for _, c := range []struct {
		new  string
		test Test
		by   string
	}{
		{"return 2", Test{Run: "TestThree"}, "TestThree"},
		{"return 2", Test{Run: "TestThree", Says: "not three"}, "TestThree"},
		{"return 2", Test{Run: "TestThree", Says: "not four"}, ""},
		{"return 2", Test{Run: "TestFour", Package: "q"}, "TestFour"},
		{"return 1 + 2", Test{Run: "TestFour", Package: "q"}, ""},
	} {
		bug.Changes[0].New = c.new
		f, err := bug.Try(dir, c.test)
		require.NoError(t, err)
		assert.Equal(t, c.by, f.By, f.Output)
	}
	for want, change := range map[string]func(c *Change, t *Test){
		"does not compile":     func(c *Change, _ *Test) { c.New = "return three" },
		"0 times":              func(c *Change, _ *Test) { c.Old = "return 4" },
		"3 times":              func(c *Change, _ *Test) { c.Old = "n" },
		"is there already":     func(c *Change, _ *Test) { c.Old = "" },
		"there is no test":     func(_ *Change, t *Test) { t.Run = "TestFive" },
		"no such file or dire": func(c *Change, _ *Test) { c.File = "p/q.go" },
	} {
		e, test := two(), Test{Run: "TestThree"}
		change(&e.Changes[0], &test)
		_, err := e.Try(dir, test)
		assert.ErrorContains(t, err, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "p/p.go"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "return 3")
}

// TestBuild: Build compiles a program with several changes of one file and with a new file, and
// returns an error for a program that does not compile.
func TestBuild(t *testing.T) {
	dir, bug := module(t), two()
	bug.Changes = append(bug.Changes,
		Change{File: "p/p.go", Old: "return 2", New: "return 2 + more"},
		Change{File: "p/more.go", New: "package p\n\nconst more = 40\n"})
	program := filepath.Join(t.TempDir(), "c")
	require.NoError(t, bug.Build(dir, "c", program))
	out, err := exec.Command(program).CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "42", string(out))
	assert.NoFileExists(t, filepath.Join(dir, "p/more.go"))

	bug.Changes = slices.Delete(bug.Changes, 2, 3)
	assert.ErrorContains(t, bug.Build(dir, "c", program), "does not compile")
}
