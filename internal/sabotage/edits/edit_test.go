package edits

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheList: each edit is told apart, says what it leaves out, and its old text is in
// the file exactly once.
func TestTheList(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, e := range All() {
		assert.False(t, names[e.Name], "two edits are called %q", e.Name)
		names[e.Name] = true
		assert.True(t, e.Name != "" && e.Rule != "" && e.Test != "", "%q is incomplete", e.Name)
		assert.NotEqual(t, e.Old, e.New, e.Name)
		_, err := e.Apply(root)
		assert.NoError(t, err)
	}
}

// module writes a module with one function and one test, and returns where it is.
func module(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module m\n\ngo 1.26\n",
		"p/p.go":      "package p\n\nfunc Three() int { return 3 }\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestThree(t *testing.T) {\n\tif Three() != 3 {\n\t\tt.Fail()\n\t}\n}\n",
		"q/q.go":      "package q\n\nimport \"m/p\"\n\nfunc Four() int { return p.Three() + 1 }\n",
		"q/q_test.go": "package q\n\nimport \"testing\"\n\nfunc TestFour(t *testing.T) {\n\tif Four() != 4 {\n\t\tpanic(\"not four\")\n\t}\n}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// TestHunt: what fails with the edit is found, also in another package; what does not,
// what does not compile, what is not there and what no test looks at is told apart. The
// file itself stays as it is.
func TestHunt(t *testing.T) {
	dir := module(t)
	bug := Edit{Name: "two", File: "p/p.go", Old: "return 3", New: "return 2", Test: "TestThree"}
	f, err := bug.Hunt(dir)
	require.NoError(t, err)
	assert.Equal(t, "TestThree", f.Test, f.Output)

	bug.Package, bug.Test = "q", "TestFour"
	f, err = bug.Hunt(dir)
	require.NoError(t, err)
	assert.Equal(t, "TestFour", f.Test, f.Output)

	bug.New = "return 1 + 2"
	f, err = bug.Hunt(dir)
	require.NoError(t, err)
	assert.Empty(t, f.Test, f.Output)

	for want, change := range map[string]func(e *Edit){
		"does not compile": func(e *Edit) { e.New = "return three" },
		"0 times":          func(e *Edit) { e.Old = "return 4" },
		"3 times":          func(e *Edit) { e.Old = "n" },
		"there is no test": func(e *Edit) { e.Test = "TestFive" },
	} {
		e := bug
		change(&e)
		_, err := e.Hunt(dir)
		assert.ErrorContains(t, err, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "p/p.go"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "return 3")
}
