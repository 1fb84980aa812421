package tidy

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"strings"
)

// standard reads the standard library's types from its source, each package once
// for all trees. Only one goroutine at a time may use this importer.
var standard = sourceImporter()

// sourceImporter reads packages as they are without cgo: with cgo it would leave files of the C
// compiler in the folder for temporary files.
func sourceImporter() types.Importer {
	build.Default.CgoEnabled = false
	return importer.ForCompiler(token.NewFileSet(), "source", nil)
}

// checker finds the types of this tree's packages. Ours are read from the tree,
// so that an in-memory tree works as well as a checkout.
type checker struct {
	tree  *Tree
	done  map[string]*types.Package // by import path; nil during the check of a package
	infos map[string]*types.Info    // by folder
}

func newChecker(t *Tree) *checker {
	return &checker{
		tree:  t,
		done:  map[string]*types.Package{},
		infos: map[string]*types.Info{},
	}
}

// info returns the known types in p.
func (c *checker) info(p *Package) *types.Info {
	if _, err := c.Import(c.tree.Module + "/" + p.Dir); err != nil {
		return &types.Info{} // a cycle, which the compiler reports
	}
	return c.infos[p.Dir]
}

// Import implements [types.Importer].
func (c *checker) Import(importPath string) (*types.Package, error) {
	dir, ours := c.tree.ours(importPath)
	if !ours {
		return standard.Import(importPath)
	}
	if pkg, ok := c.done[importPath]; ok {
		if pkg == nil {
			return nil, fmt.Errorf("import cycle through %s", importPath)
		}
		return pkg, nil
	}
	p := c.tree.pkg(dir)
	if p == nil {
		return nil, fmt.Errorf("no package in %s", dir)
	}
	c.done[importPath] = nil
	pkg := c.check(importPath, p)
	c.done[importPath] = pkg
	return pkg, nil
}

// check types the files of p, all build tags at once. Such a package has doubles
// (one name under two tags), so errors are ignored: the body of a double is typed
// anyway. A check that needs an unknown type reports that.
func (c *checker) check(importPath string, p *Package) *types.Package {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	var files []*ast.File
	for _, f := range p.code() {
		files = append(files, f.AST)
	}
	conf := types.Config{Importer: c, Error: func(error) {}}
	pkg, _ := conf.Check(importPath, c.tree.fset, files, info) // errors went to Error
	c.infos[p.Dir] = info
	return pkg
}

// testInfo returns the known types in test files of p: of its own package, or of the external test
// package. Errors are ignored, as in check. Packages of other modules are unknown here: examples of
// this module need no types of theirs.
func (c *checker) testInfo(p *Package, tests []*File) *types.Info {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	files := tests
	if name := tests[0].AST.Name.Name; !strings.HasSuffix(name, "_test") {
		files = append(p.code(), tests...)
	}
	var parsed []*ast.File
	for _, f := range files {
		parsed = append(parsed, f.AST)
	}
	conf := types.Config{Importer: c, Error: func(error) {}}
	_, _ = conf.Check(c.tree.Module+"/"+p.Dir, c.tree.fset, parsed, info) // errors went to Error
	return info
}
