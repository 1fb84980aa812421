package edits

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Export string
	GoFiles            []string
}

// list returns the changed packages and all their imports.
func list(t *testing.T, root string) map[string]listed {
	folders := map[string][]string{} // by module
	for _, e := range All() {
		for _, c := range e.Changes {
			dir, folder := moduleOf(root, path.Dir(c.File))
			folders[dir] = append(folders[dir], folder)
		}
	}
	all := map[string]listed{}
	for dir, list := range folders {
		cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,GoFiles"}, list...)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		require.NoError(t, err)
		for d := json.NewDecoder(strings.NewReader(string(out))); ; {
			var p listed
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			all[p.ImportPath] = p
		}
	}
	return all
}

// TestEditsCompile: each package that an edit changes has no error of syntax or type. (The
// compiler checks changed tests when they run.)
func TestEditsCompile(t *testing.T) {
	longtest.Skip(t, "type-checks a copy of each package that an edit changes")
	root, err := Root()
	require.NoError(t, err)
	packages := list(t, root)
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) })
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			changed, err := e.Apply(root)
			require.NoError(t, err)
			done := map[string]bool{}
			for file := range changed {
				folder := path.Dir(file)
				if done[folder] {
					continue
				}
				done[folder] = true
				p, known := packages[modulePath+"/"+folder]
				require.True(t, known, folder)
				files := parse(t, fset, root, folder, p.GoFiles, changed)
				_, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, nil)
				require.NoError(t, err)
			}
		})
	}
}

const modulePath = "github.com/goulfm/goulfm"

// parse reads the files of a folder, changed and new files included.
func parse(t *testing.T, fset *token.FileSet, root, folder string, names []string, changed map[string][]byte) (files []*ast.File) {
	texts := map[string]any{}
	for _, name := range names {
		texts[name] = nil // unchanged
	}
	for file, text := range changed {
		if path.Dir(file) == folder && !strings.HasSuffix(file, "_test.go") {
			texts[path.Base(file)] = text
		}
	}
	for name, text := range texts {
		f, err := parser.ParseFile(fset, filepath.Join(root, folder, name), text, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	return files
}
