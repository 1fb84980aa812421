package tidy

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// usual holds the bounds of everything that is not listed in large.
var usual = map[string]int{
	"methods of":        65, // of one type
	"fields of":         30, // of one type
	"lines of function": 100,
	"lines of file":     600,
}

// large is a ratchet: it lists the exceptions of the time when this check was added, each
// with its bound. These bounds only fall: cut the type, function or file instead of raising one.
var large = map[string]int{
	"methods of comm.Comm":                                       66, // the main type of programs
	"methods of internal/protocol/control.Control":               83,
	"methods of internal/engine.Comm":                            83,
	"methods of internal/engine.Proc":                            113,
	"fields of internal/engine.Proc":                             40,
	"lines of function internal/testing/spectable/matrix.agreed": 101,
}

// slack is the percentage by which a size may be below its bound before the bound has
// to follow.
const slack = 25

// Sizes limits types, functions and files to a size at which a reader can keep them in
// mind, and the exceptions to their present size.
func Sizes(t *Tree) []Finding { return sizes(t, large) }

func sizes(t *Tree, large map[string]int) []Finding {
	figures := measure(t)
	var found []Finding
	for _, what := range slices.Sorted(maps.Keys(figures)) {
		bound, listed := large[what]
		if !listed {
			bound = usual[what[:strings.LastIndexByte(what, ' ')]]
		}
		switch n := figures[what]; {
		case n > bound:
			found = append(found, Finding{what, fmt.Sprintf("%d are more than %d: cut it", n, bound)})
		case listed && n*100 < bound*(100-slack):
			found = append(found, Finding{what, fmt.Sprintf("only %d: lower its bound of %d in internal/testing/tidy/sizes.go", n, bound)})
		}
	}
	for _, what := range slices.Sorted(maps.Keys(large)) {
		if _, ok := figures[what]; !ok {
			found = append(found, Finding{what, "is gone: take its bound from internal/testing/tidy/sizes.go"})
		}
	}
	return found
}

// measure counts all sizes, with names such as those of large.
func measure(t *Tree) map[string]int {
	figures := map[string]int{}
	for _, p := range t.Packages {
		for _, f := range p.code() {
			if ast.IsGenerated(f.AST) {
				continue // not read by people
			}
			figures["lines of file "+f.Path] = t.fset.Position(f.AST.FileEnd).Line
			for _, d := range f.AST.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					t.measureFunction(figures, p.Dir+".", d)
				case *ast.GenDecl:
					measureTypes(figures, p.Dir+".", d)
				}
			}
		}
	}
	return figures
}

func (t *Tree) measureFunction(figures map[string]int, in string, d *ast.FuncDecl) {
	name := in + d.Name.Name
	if d.Recv != nil {
		of := receiverName(d.Recv.List[0].Type)
		figures["methods of "+in+of]++
		name = in + of + "." + d.Name.Name
	}
	lines := t.fset.Position(d.End()).Line - t.fset.Position(d.Pos()).Line + 1
	figures["lines of function "+name] = max(lines, figures["lines of function "+name]) // init and doubles
}

func measureTypes(figures map[string]int, in string, d *ast.GenDecl) {
	for _, s := range d.Specs {
		if s, ok := s.(*ast.TypeSpec); ok {
			if fields, ok := s.Type.(*ast.StructType); ok {
				figures["fields of "+in+s.Name.Name] = fields.Fields.NumFields()
			}
		}
	}
}
