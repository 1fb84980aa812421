package tidy

import (
	"fmt"
	"go/types"
	"strings"
)

// Surface requires that published packages mention no type of an internal package: such
// a type has no name outside of this module, and changes without notice.
func Surface(t *Tree) []Finding {
	var found []Finding
	typed := newChecker(t)
	for _, dir := range published {
		if t.pkg(dir) == nil {
			continue
		}
		pkg, err := typed.Import(t.Module + "/" + dir)
		if err != nil {
			found = append(found, Finding{dir, err.Error()})
			continue
		}
		for _, name := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(name); o.Exported() {
				s := surface{home: pkg, tree: t, seen: map[types.Type]bool{}}
				s.object(o)
				found = append(found, s.found...)
			}
		}
	}
	return found
}

// surface checks one exported object of a package.
type surface struct {
	home  *types.Package
	tree  *Tree
	what  types.Object // the object with the checked type
	seen  map[types.Type]bool
	found []Finding
}

func (s *surface) object(o types.Object) {
	s.what = o
	named, isType := o.Type().(*types.Named)
	if _, declares := o.(*types.TypeName); !declares || !isType {
		s.typ(o.Type())
		return
	}
	s.seen[named] = true
	s.parameters(named.TypeParams())
	s.typ(named.Underlying())
	for m := range named.Methods() {
		if m.Exported() {
			s.what = m
			s.typ(m.Type())
		}
	}
}

// typ visits the parts of a type that a program can see.
func (s *surface) typ(t types.Type) {
	if s.seen[t] {
		return
	}
	s.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		s.typ(types.Unalias(t))
	case *types.Named:
		s.named(t)
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				s.typ(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			s.typ(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			s.typ(e)
		}
	case *types.Signature:
		s.parameters(t.TypeParams())
		s.typ(t.Params())
		s.typ(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			s.typ(v.Type())
		}
	case *types.Map:
		s.typ(t.Key())
		s.typ(t.Elem())
	case *types.Union:
		for term := range t.Terms() {
			s.typ(term.Type())
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.typ(t.Elem())
	}
}

func (s *surface) parameters(list *types.TypeParamList) {
	for p := range list.TypeParams() {
		s.typ(p.Constraint())
	}
}

// named is typ for a type with a name. Types of other packages are checked there.
func (s *surface) named(t *types.Named) {
	for a := range t.TypeArgs().Types() {
		s.typ(a)
	}
	pkg := t.Obj().Pkg()
	switch {
	case pkg == nil: // error, comparable
	case s.internal(pkg.Path()):
		at := s.tree.fset.Position(s.what.Pos())
		s.found = append(s.found, Finding{fmt.Sprintf("%s:%d", at.Filename, at.Line),
			fmt.Sprintf("%s.%s shows programs %s, of an internal package: use internal/commhooks", s.home.Name(), s.what.Name(), t)})
	case pkg == s.home && !t.Obj().Exported():
		s.typ(t.Underlying())
	}
}

func (s *surface) internal(importPath string) bool {
	dir, ours := s.tree.ours(importPath)
	return ours && strings.HasPrefix(dir, "internal/")
}
