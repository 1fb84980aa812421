package tidy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ChangelogPath is the page that lists the names which an update removes or changes.
const ChangelogPath = "CHANGELOG.md"

// published are the folders whose exported names programs depend on. The other folders that
// are not internal hold rules to be read (era, fd), as their package comments state.
var published = []string{"collectives", "comm", "comm/commtest", "comm/file", "fd/adaptive", "fd/beat", "fd/watch", "recovery", "recovery/checkpoint", "rma", "shmem", "ulfm"}

// declaration is one exported name and its shape.
type declaration struct {
	name string // as in the changelog: comm.Send, comm.Comm.Rank, comm.Config.Detector
	text string // on one line, without the names of parameters
}

// APIPath is the file that holds the published declarations of a folder, one a line.
func APIPath(dir string) string {
	return "api/" + strings.ReplaceAll(dir, "/", "_") + ".txt"
}

// API compares the published names with the files that list them. A name that was added
// or removed or that has another shape is a finding, unless the section of the changelog
// for the next version contains the name in backquotes. The name of an added or removed
// type covers its fields and methods.
func API(t *Tree) ([]Finding, error) {
	page, err := fs.ReadFile(t.Files, ChangelogPath)
	if err != nil {
		return nil, err
	}
	next := nextVersion(string(page))
	var found []Finding
	for _, dir := range published {
		listed, err := fs.ReadFile(t.Files, APIPath(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		now, before := t.exported(dir), []declaration(nil)
		for line := range strings.Lines(string(listed)) {
			line = strings.TrimSuffix(line, "\n")
			name, _, _ := strings.Cut(line, ": ")
			before = append(before, declaration{name, strings.TrimPrefix(line, name+": ")})
			if slices.Contains(now, before[len(before)-1]) || isNamed(next, name, now) {
				continue
			}
			found = append(found, Finding{APIPath(dir), fmt.Sprintf("gone or changed, and the next version in %s does not name `%s`: %s", ChangelogPath, name, line)})
		}
		for _, d := range now {
			known := slices.ContainsFunc(before, func(b declaration) bool { return b.name == d.name })
			if !known && !isNamed(next, d.name, before) {
				found = append(found, Finding{APIPath(dir), fmt.Sprintf("new, and the next version in %s does not name `%s`: %s", ChangelogPath, d.name, d)})
			}
		}
	}
	return found, nil
}

// isNamed reports whether a section names a declaration, or its type if others lack this type.
func isNamed(section, name string, others []declaration) bool {
	return names(section, name) || names(section, missingType(name, others))
}

// names reports whether a section contains a declaration, or "package.*" for its package.
func names(section, name string) bool {
	pkg, _, _ := strings.Cut(name, ".")
	return strings.Contains(section, "`"+name+"`") || strings.Contains(section, "`"+pkg+".*`")
}

// missingType returns the type of a field or method if others lack this type. Then the
// changelog needs the name of the type only.
func missingType(name string, others []declaration) string {
	of := name[:max(strings.LastIndexByte(name, '.'), 0)]
	if !strings.Contains(of, ".") || slices.ContainsFunc(others, func(d declaration) bool { return d.name == of }) {
		return name
	}
	return of
}

// APIText returns the text of the file that lists all present names of folder dir.
func APIText(t *Tree, dir string) string {
	var b strings.Builder
	for _, d := range t.exported(dir) {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

// APILists returns the text of each file that lists the present names of a published folder, by the
// path of the file.
func APILists(t *Tree) map[string]string {
	lists := map[string]string{}
	for _, dir := range published {
		lists[APIPath(dir)] = APIText(t, dir)
	}
	return lists
}

var versionHead = regexp.MustCompile(`(?m)^## `)

// nextVersion returns the first section of the changelog.
func nextVersion(page string) string {
	heads := versionHead.FindAllStringIndex(page, 2)
	switch len(heads) {
	case 0:
		return ""
	case 1:
		return page[heads[0][0]:]
	}
	return page[heads[0][0]:heads[1][0]]
}

func (d declaration) String() string { return d.name + ": " + d.text }

// exported returns the exported names of the package in folder dir, sorted, for all
// platforms and tags at once.
func (t *Tree) exported(dir string) []declaration {
	p := t.pkg(dir)
	if p == nil {
		return nil
	}
	e := exports{prefix: path.Base(dir)}
	for _, f := range p.code() {
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				e.function(d)
			case *ast.GenDecl:
				e.general(d)
			}
		}
	}
	slices.SortFunc(e.found, func(a, b declaration) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.text, b.text))
	})
	return slices.Compact(e.found)
}

// exports collects the declarations of one package.
type exports struct {
	prefix string // name of the package
	found  []declaration
}

func (e *exports) add(name, text string) {
	e.found = append(e.found, declaration{e.prefix + "." + name, text})
}

func (e *exports) function(d *ast.FuncDecl) {
	if !d.Name.IsExported() {
		return
	}
	name, receiver := d.Name.Name, ""
	if d.Recv != nil {
		of := receiverName(d.Recv.List[0].Type)
		if !ast.IsExported(of) {
			return
		}
		name, receiver = of+"."+name, "("+source(d.Recv.List[0].Type)+") "
	}
	shape := &ast.FuncType{TypeParams: d.Type.TypeParams, Params: unnamed(d.Type.Params), Results: unnamed(d.Type.Results)}
	e.add(name, "func "+receiver+d.Name.Name+strings.TrimPrefix(source(shape), "func"))
}

// receiverName is the type's name in T, *T and *T[P].
func receiverName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiverName(x.X)
	case *ast.IndexExpr:
		return receiverName(x.X)
	case *ast.IndexListExpr:
		return receiverName(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// unnamed takes the names from a list of parameters: a caller does not write them.
func unnamed(list *ast.FieldList) *ast.FieldList {
	if list == nil {
		return nil
	}
	bare := &ast.FieldList{}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			bare.List = append(bare.List, &ast.Field{Type: f.Type})
		}
	}
	return bare
}

func (e *exports) general(d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			e.typ(s)
		case *ast.ValueSpec:
			e.values(d.Tok, s)
		}
	}
}

// values lists constants with their values, where these are written out, and
// variables with their types.
func (e *exports) values(kind token.Token, s *ast.ValueSpec) {
	for i, n := range s.Names {
		if !n.IsExported() {
			continue
		}
		text := kind.String()
		if s.Type != nil {
			text += " " + source(s.Type)
		}
		if kind == token.CONST && i < len(s.Values) {
			text += " = " + source(s.Values[i])
		}
		e.add(n.Name, text)
	}
}

// typ lists a type; of a struct each exported field by itself, so that one more is
// no change.
func (e *exports) typ(s *ast.TypeSpec) {
	if !s.Name.IsExported() {
		return
	}
	fields, isStruct := s.Type.(*ast.StructType)
	if !isStruct {
		defer withoutComments(s.Type)()
		e.add(s.Name.Name, "type "+source(&ast.TypeSpec{Name: ast.NewIdent("T"), TypeParams: s.TypeParams, Assign: s.Assign, Type: s.Type}))
		return
	}
	e.add(s.Name.Name, "type "+source(&ast.TypeSpec{Name: ast.NewIdent("T"), TypeParams: s.TypeParams, Type: ast.NewIdent("struct")}))
	for _, f := range fields.Fields.List {
		if len(f.Names) == 0 && ast.IsExported(receiverName(f.Type)) {
			e.add(s.Name.Name+"."+receiverName(f.Type), "field "+source(f.Type)+", embedded")
		}
		for _, n := range f.Names {
			if n.IsExported() {
				e.add(s.Name.Name+"."+n.Name, "field "+source(f.Type))
			}
		}
	}
}

// withoutComments removes the comments of the methods of an interface: they are not a part of its
// type. The returned function puts them back.
func withoutComments(typ ast.Expr) (restore func()) {
	restore = func() {}
	ast.Inspect(typ, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			doc, comment, before := f.Doc, f.Comment, restore
			f.Doc, f.Comment = nil, nil
			restore = func() { f.Doc, f.Comment = doc, comment; before() }
		}
		return true
	})
	return restore
}

var spaces = regexp.MustCompile(`\s+`)

// source prints a node on one line.
func source(n any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return spaces.ReplaceAllString(b.String(), " ")
}
