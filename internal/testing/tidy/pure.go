package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// RulesTier is the tier whose packages must be pure.
const RulesTier = 1

// impure lists the packages that a rule may not import, including all packages below
// them, and the reasons. A rule that needs one of these belongs into the engine, or
// has to receive the information in an event.
var impure = map[string]string{
	"context":      "a rule never waits",
	"crypto/rand":  "random choices come from a seed",
	"hash/maphash": "its seed differs from run to run",
	"log":          "a rule reports by actions",
	"net":          "a rule sends by actions",
	"os":           "a rule sees the world through events",
	"runtime":      "a rule does not know the machine",
	"sync":         "a rule runs under one goroutine at a time",
	"syscall":      "a rule sees the world through events",
	"time":         "a rule is told the time: use internal/base/mono",
	"unsafe":       "a rule owns its memory",
}

// rationed lists the packages of which a rule may use only some names: of math/rand
// the names that need an explicit seed, of maps the names that show no order.
var rationed = map[string][]string{
	"maps":         {"Clone", "Copy", "Equal"},
	"math/rand":    {"New", "NewSource", "NewZipf", "Rand", "Source", "Source64", "Zipf"},
	"math/rand/v2": {"ChaCha8", "New", "NewChaCha8", "NewPCG", "NewZipf", "PCG", "Rand", "Source", "Zipf"},
}

// Pure checks the packages of tier 1: the same events must always give the
// same actions, in a simulator as in production. So there is no goroutine, no
// channel, no map iteration, no clock, no state outside the machine.
func Pure(t *Tree, table *Table) []Finding {
	var fs []Finding
	typed := newChecker(t)
	for _, p := range t.Packages {
		row := table.find(p.Dir)
		if row < 0 || table.Rows[row].Tier != RulesTier {
			continue
		}
		info := typed.info(p)
		for _, f := range p.code() {
			fs = append(fs, pureImports(t, f)...)
			fs = append(fs, pureVars(t, info, f)...)
			fs = append(fs, pureCode(t, info, f)...)
		}
	}
	return fs
}

func pureImports(t *Tree, f *File) []Finding {
	var fs []Finding
	for _, spec := range f.AST.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // checked by the parser
		_, ours := t.ours(importPath)
		if !ours && strings.Contains(strings.Split(importPath, "/")[0], ".") {
			fs = append(fs, t.finding(spec, "a rule may not import %s: only ours and the standard library", importPath))
		}
		for bad, why := range impure {
			if importPath == bad || strings.HasPrefix(importPath, bad+"/") {
				fs = append(fs, t.finding(spec, "a rule may not import %s: %s", importPath, why))
			}
		}
		if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") {
			fs = append(fs, t.finding(spec, "a rule names what it imports"))
		}
	}
	return fs
}

// pureVars admits only sentinel errors, and "var _ = ..." which stores nothing.
func pureVars(t *Tree, info *types.Info, f *File) []Finding {
	var fs []Finding
	for _, d := range f.AST.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			for _, name := range s.(*ast.ValueSpec).Names {
				if name.Name != "_" && !sentinel(info, name) {
					fs = append(fs, t.finding(name, "package variable %s: a rule keeps its state in its machine (only sentinel errors are admitted)", name.Name))
				}
			}
		}
	}
	return fs
}

func sentinel(info *types.Info, name *ast.Ident) bool {
	if !strings.HasPrefix(strings.ToLower(name.Name), "err") {
		return false
	}
	obj := info.Defs[name]
	return obj != nil && types.Implements(obj.Type(), types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

func pureCode(t *Tree, info *types.Info, f *File) []Finding {
	var fs []Finding
	add := func(n ast.Node, format string, args ...any) { fs = append(fs, t.finding(n, format, args...)) }
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n, "go statement in a rule")
		case *ast.SelectStmt:
			add(n, "select in a rule")
		case *ast.ChanType:
			add(n, "channel in a rule")
		case *ast.SendStmt:
			add(n, "send on a channel in a rule")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				add(n, "receive from a channel in a rule")
			}
		case *ast.RangeStmt:
			if why := badRange(info.TypeOf(n.X)); why != "" {
				add(n, "%s", why)
			}
		case *ast.SelectorExpr:
			if pkg, names := ration(info, n); names != nil && !slices.Contains(names, n.Sel.Name) {
				add(n, "%s.%s in a rule: only %s", pkg, n.Sel.Name, strings.Join(names, ", "))
			}
		}
		return true
	})
	return fs
}

// ration returns the names that a rule may use of the package that n selects
// from; nil if n selects from something else.
func ration(info *types.Info, n *ast.SelectorExpr) (pkg string, names []string) {
	id, ok := n.X.(*ast.Ident)
	if !ok {
		return "", nil
	}
	name, ok := info.Uses[id].(*types.PkgName)
	if !ok {
		return "", nil
	}
	pkg = name.Imported().Path()
	return pkg, rationed[pkg]
}

// badRange returns the fault of ranging over a value of type t, or "".
func badRange(t types.Type) string {
	if t == nil || t == types.Typ[types.Invalid] {
		return "the type after range is unknown: does the package compile?"
	}
	for _, u := range alternatives(t) {
		switch u.(type) {
		case *types.Map:
			return "ranging over a map in a rule: its order differs from run to run"
		case *types.Chan:
			return "ranging over a channel in a rule"
		}
	}
	return ""
}

// alternatives returns the underlying types that a value of type t can have:
// several if t is a type parameter such as M ~map[K]V | ~[]V.
func alternatives(t types.Type) []types.Type {
	face, ok := t.Underlying().(*types.Interface)
	if !ok {
		return []types.Type{t.Underlying()}
	}
	var all []types.Type
	for e := range face.EmbeddedTypes() {
		union, ok := e.(*types.Union)
		if !ok {
			all = append(all, alternatives(e)...)
			continue
		}
		for term := range union.Terms() {
			all = append(all, alternatives(term.Type())...)
		}
	}
	return all
}
