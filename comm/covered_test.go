package comm_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withoutExample are the exported operations that no example runs: each is in an example that is
// only compiled.
var withoutExample = map[string]string{
	"Abort":       "ends the process",
	"ErrorsAbort": "ends the process",
	"ErrorsFatal": "ends the process",
}

// TestEveryOperationHasAnExample whose output is checked: an exported function or
// method is called in one, by name.
func TestEveryOperationHasAnExample(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	ok(t, "list files", err)
	called, operations := map[string]bool{}, map[string]bool{}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, e := range doc.Examples(f) {
				if e.Output != "" || e.EmptyOutput {
					selectors(e.Code, called)
				}
			}
			continue
		}
		for _, d := range f.Decls {
			if fn, isFunc := d.(*ast.FuncDecl); isFunc && fn.Name.IsExported() && !printed(fn.Name.Name) {
				operations[fn.Name.Name] = true
			}
		}
	}
	var missing []string
	for name := range operations {
		if !called[name] && withoutExample[name] == "" {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if len(operations) < 40 || len(missing) > 0 {
		t.Errorf("of %d operations these are in no example with an output: %v", len(operations), missing)
	}
	for name := range withoutExample {
		if !operations[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// printed reports whether package fmt or errors calls a method by itself.
func printed(name string) bool { return slices.Contains([]string{"String", "Error", "Unwrap"}, name) }

func selectors(code ast.Node, names map[string]bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		if s, isSelector := n.(*ast.SelectorExpr); isSelector {
			names[s.Sel.Name] = true
		}
		return true
	})
}
