package scaffold

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWrite: both kinds of programs are valid Go, and an existing folder is an error. The test of
// the command builds the programs and kills a rank (cmd/goulfm).
func TestWrite(t *testing.T) {
	for _, bag := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "rods")
		p := Program{Name: "rods", Bag: bag, Version: "v0.1.0"}
		require.NoError(t, p.Write(dir))
		for _, name := range []string{"main.go", "main_test.go"} {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
			require.NoError(t, err)
			if name == "main.go" {
				assert.Regexp(t, "^Rods ", f.Doc.Text())
			}
		}
		assert.Error(t, p.Write(dir))
	}
	for _, name := range []string{"", "1a", "a/b", "../a", "a b"} {
		assert.ErrorIs(t, Program{Name: name}.Write(filepath.Join(t.TempDir(), "x")), ErrName, name)
	}
}
