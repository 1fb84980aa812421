package tidy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// noExamplePath lists the published functions and methods that need no example.
const noExamplePath = "internal/testing/tidy/testdata/noexample.txt"

// shown are the folders whose functions and methods need examples: the published ones, and the
// client of the grid.
var shown = append(slices.Clone(published), "gridrpc")

// Examples requires that each exported function and method of a published package occurs in the
// body of an example of that package. A line "name: reason" in the list of exceptions frees one
// name. An exception for a name that does not exist or that has an example is a finding.
//
// The packages are typed, because many methods share a name: an example of Comm.Agree is none of
// Intercomm.Agree.
func Examples(t *Tree) ([]Finding, error) {
	free, found, err := readExceptions(t.Files)
	if err != nil {
		return nil, err
	}
	typed := newChecker(t)
	for _, dir := range shown {
		p := t.pkg(dir)
		if p == nil {
			continue
		}
		uses := t.usedByExamples(typed, p)
		for name, at := range t.operations(p) {
			switch _, excepted := free[name]; {
			case excepted && uses[name]:
				found = append(found, Finding{noExamplePath, name + " has an example: remove the exception"})
			case !excepted && !uses[name]:
				found = append(found, t.finding(at, "no Example of package %s uses %s: add one, or list the reason against it in %s", dir, name, noExamplePath))
			}
			delete(free, name)
		}
	}
	for name := range free {
		found = append(found, Finding{noExamplePath, name + " is no exported function or method of a published package"})
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.String(), b.String()) })
	return found, nil
}

// readExceptions returns the reasons of the list of exceptions by their names. A line without a
// reason is a finding. Empty lines, and comments after #, are skipped.
func readExceptions(files fs.FS) (map[string]string, []Finding, error) {
	text, err := fs.ReadFile(files, noExamplePath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	free := map[string]string{}
	var found []Finding
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, _ := strings.Cut(line, ": ")
		if strings.TrimSpace(reason) == "" {
			found = append(found, Finding{noExamplePath, fmt.Sprintf("%q: want a name and a reason: \"comm.Comm.Rank: an accessor\"", line)})
		}
		if free[name] != "" {
			found = append(found, Finding{noExamplePath, name + " is listed twice"})
		}
		free[name] = reason
	}
	return free, found, nil
}

// operations returns the exported functions and methods of a package by name, as comm.Send and
// comm.Comm.Rank, with the methods of exported interfaces. A function with one declaration for each
// platform counts once.
func (t *Tree) operations(p *Package) map[string]ast.Node {
	all := map[string]ast.Node{}
	for _, f := range p.code() {
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := operation(d); name != "" {
					all[path.Base(p.Dir)+"."+name] = d
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					for _, m := range methodsOf(s) {
						all[path.Base(p.Dir)+"."+s.(*ast.TypeSpec).Name.Name+"."+m.Name] = m
					}
				}
			}
		}
	}
	return all
}

// operation returns Function or Type.Method for an exported declaration; otherwise "".
func operation(d *ast.FuncDecl) string {
	if !d.Name.IsExported() {
		return ""
	}
	if d.Recv == nil {
		return d.Name.Name
	}
	of := receiverName(d.Recv.List[0].Type)
	if !ast.IsExported(of) {
		return ""
	}
	return of + "." + d.Name.Name
}

// methodsOf returns the exported methods of an exported interface.
func methodsOf(s ast.Spec) (methods []*ast.Ident) {
	t, ok := s.(*ast.TypeSpec)
	if !ok || !t.Name.IsExported() {
		return nil
	}
	if i, ok := t.Type.(*ast.InterfaceType); ok {
		for _, f := range i.Methods.List {
			for _, name := range f.Names {
				if name.IsExported() {
					methods = append(methods, name)
				}
			}
		}
	}
	return methods
}

// usedByExamples returns the names of the functions and methods of p in the bodies of its examples.
func (t *Tree) usedByExamples(typed *checker, p *Package) map[string]bool {
	used := map[string]bool{}
	for _, files := range p.tests() {
		info := typed.testInfo(p, files)
		for _, f := range files {
			for _, d := range f.AST.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Example") && testName.MatchString(d.Name.Name) {
					t.used(p, d, info, used)
				}
			}
		}
	}
	return used
}

// used adds the functions and methods of p in one example.
func (t *Tree) used(p *Package, example *ast.FuncDecl, info *types.Info, used map[string]bool) {
	ast.Inspect(example.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		f, ok := info.Uses[id].(*types.Func)
		if !ok || f.Pkg() == nil || f.Pkg().Path() != t.Module+"/"+p.Dir {
			return true
		}
		name := f.Name()
		if recv := f.Origin().Signature().Recv(); recv != nil {
			name = typeName(recv.Type()) + "." + name
		}
		used[path.Base(p.Dir)+"."+name] = true
		return true
	})
}

// typeName is the name of T in T and *T, without the parameters of the type.
func typeName(of types.Type) string {
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	if n, ok := of.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// tests returns the test files of p that have the name of its package, and those of its external
// test package.
func (p *Package) tests() [][]*File {
	groups := map[string][]*File{}
	for _, f := range p.Files {
		if f.Test {
			groups[f.AST.Name.Name] = append(groups[f.AST.Name.Name], f)
		}
	}
	var all [][]*File
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, groups[name])
	}
	return all
}
