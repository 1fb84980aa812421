package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"html/template"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/goulfm/goulfm"

func packagePage(p string) string { return path.Join("pkg", p+".html") }

// A goPackage is a parsed package of the repository.
type goPackage struct {
	*doc.Package
	fset *token.FileSet
	dir  string // relative to the root
}

// load parses the package of a folder, as linux has it, with its tests for their examples.
func (s *site) load(p string) (*goPackage, error) {
	dir := filepath.Join(s.root, filepath.FromSlash(p))
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	found, err := context.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.TestGoFiles, found.XTestGoFiles) {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, path.Join(module, p))
	if err != nil {
		return nil, err
	}
	return &goPackage{d, fset, p}, nil
}

// packageComment returns the HTML of the comment of a folder's package, or "".
func (s *site) packageComment(page, p string) string {
	d, err := s.load(p)
	if err != nil || d.Doc == "" {
		return ""
	}
	return s.comment(page, d, d.Doc, 3)
}

// comment returns the HTML of a doc comment.
func (s *site) comment(page string, d *goPackage, text string, level int) string {
	p := d.Printer()
	p.HeadingLevel = level
	p.HeadingID = func(h *comment.Heading) string { return "" }
	p.DocLinkURL = func(l *comment.DocLink) string { return s.docLink(page, d, l) }
	return strings.ReplaceAll(strings.ReplaceAll(string(p.HTML(d.Parser().Parse(text))), "<pre>", `<pre class="chroma">`), ` id=""`, "")
}

// docLink returns the address of a reference in a doc comment.
func (s *site) docLink(page string, d *goPackage, l *comment.DocLink) string {
	importPath := cmp.Or(l.ImportPath, path.Join(module, d.dir))
	name := l.Name
	if l.Recv != "" {
		name = l.Recv + "." + l.Name
	}
	inside, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		address := l.DefaultURL("https://pkg.go.dev")
		s.external[address] = true
		return address
	}
	if slices.Contains(s.packages, inside) {
		s.links = append(s.links, link{page, packagePage(inside), name})
		return relative(page, packagePage(inside), name)
	}
	address, err := s.refer(page, "", inside)
	if err != nil {
		s.links = append(s.links, link{page, inside, name}) // checkLinks reports it
	}
	return address
}

// addPackage makes the page of a public package.
func (s *site) addPackage(p string) error {
	d, err := s.load(p)
	if err != nil {
		return err
	}
	w := &packageWriter{s: s, d: d, page: packagePage(p)}
	w.write()
	if w.err != nil {
		return fmt.Errorf("package %s: %w", p, w.err)
	}
	s.synopses[p] = d.Synopsis(d.Doc)
	s.pages[w.page] = &page{name: w.page, title: "package " + p, content: template.HTML(w.b.String()), heads: w.heads, from: p}
	return nil
}

type packageWriter struct {
	s     *site
	d     *goPackage
	page  string
	b     strings.Builder
	heads []heading
	err   error
}

func (w *packageWriter) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *packageWriter) head(level int, id, text, source string) {
	w.heads = append(w.heads, heading{id, text, level})
	w.printf("<h%d id=%q>%s%s</h%d>\n", level, id, template.HTMLEscapeString(text), source, level)
}

func (w *packageWriter) write() {
	d := w.d
	w.printf("<h1>package %s</h1>\n<p><code>import %q</code></p>\n", template.HTMLEscapeString(d.Name), d.ImportPath)
	w.printf("%s", w.s.comment(w.page, d, d.Doc, 3))
	w.examples(d.Examples)
	w.index()
	w.values("Constants", "constants", d.Consts)
	w.values("Variables", "variables", d.Vars)
	if len(d.Funcs) > 0 {
		w.head(2, "functions", "Functions", "")
		for _, f := range d.Funcs {
			w.function(f, "")
		}
	}
	if len(d.Types) > 0 {
		w.head(2, "types", "Types", "")
	}
	for _, t := range d.Types {
		w.head(3, t.Name, "type "+t.Name, w.sourceOf(t.Decl))
		w.declaration(t.Decl)
		w.printf("%s", w.s.comment(w.page, d, t.Doc, 4))
		w.examples(t.Examples)
		for _, v := range slices.Concat(t.Consts, t.Vars) {
			w.value(v)
		}
		for _, f := range t.Funcs {
			w.function(f, "")
		}
		for _, m := range t.Methods {
			w.function(m, t.Name)
		}
	}
}

// index lists the functions, types and methods of the package.
func (w *packageWriter) index() {
	w.printf("<details class=\"index\"><summary>Index of %s</summary>\n<ul>\n", template.HTMLEscapeString(w.d.Name))
	entry := func(class, id, text string) {
		w.printf("<li%s><a href=\"#%s\">%s</a></li>\n", class, id, template.HTMLEscapeString(text))
	}
	for _, f := range w.d.Funcs {
		entry("", f.Name, "func "+f.Name)
	}
	for _, t := range w.d.Types {
		entry("", t.Name, "type "+t.Name)
		for _, f := range t.Funcs {
			entry(` class="in"`, f.Name, "func "+f.Name)
		}
		for _, m := range t.Methods {
			entry(` class="in"`, t.Name+"."+m.Name, "func ("+t.Name+") "+m.Name)
		}
	}
	w.printf("</ul></details>\n")
}

func (w *packageWriter) values(title, id string, all []*doc.Value) {
	if len(all) == 0 {
		return
	}
	w.head(2, id, title, "")
	for _, v := range all {
		w.value(v)
	}
}

// value writes a declaration of constants or variables. Each name is an address.
func (w *packageWriter) value(v *doc.Value) {
	for _, n := range v.Names {
		w.printf("<a id=%q></a>", n)
	}
	w.declaration(v.Decl)
	w.printf("%s", w.s.comment(w.page, w.d, v.Doc, 4))
}

func (w *packageWriter) function(f *doc.Func, recv string) {
	id, title := f.Name, "func "+f.Name
	if recv != "" {
		id, title = recv+"."+f.Name, fmt.Sprintf("func (%s) %s", f.Recv, f.Name)
	}
	w.head(4, id, title, w.sourceOf(f.Decl))
	decl := *f.Decl
	decl.Body, decl.Doc = nil, nil
	w.declaration(&decl)
	w.printf("%s", w.s.comment(w.page, w.d, f.Doc, 5))
	w.examples(f.Examples)
}

// sourceOf returns a link to the line of a declaration.
func (w *packageWriter) sourceOf(n ast.Node) string {
	at := w.d.fset.Position(n.Pos())
	file := path.Join(w.d.dir, filepath.Base(at.Filename))
	to, err := w.s.refer(w.page, "", file)
	if err != nil {
		w.err = err
		return ""
	}
	return fmt.Sprintf(" <a class=\"source\" href=\"%s#L%d\">source</a>", to, at.Line)
}

func (w *packageWriter) declaration(n ast.Node) {
	if g, ok := n.(*ast.GenDecl); ok {
		bare := *g
		bare.Doc = nil
		n = &bare
	}
	var b bytes.Buffer
	if err := format.Node(&b, w.d.fset, n); err != nil {
		w.err = err
		return
	}
	w.code(b.String())
}

func (w *packageWriter) code(text string) {
	block, err := coloured("go", text, false)
	if err != nil {
		w.err = err
	}
	w.printf("%s\n", block)
}

func (w *packageWriter) examples(all []*doc.Example) {
	for _, e := range all {
		title := "Example"
		if e.Suffix != "" {
			title += " (" + strings.ReplaceAll(e.Suffix, "_", " ") + ")"
		}
		var code any = e.Code
		if e.Play != nil {
			code = e.Play
		}
		var b bytes.Buffer
		if err := format.Node(&b, w.d.fset, code); err != nil {
			w.err = err
			return
		}
		w.printf("<details class=\"example\"><summary>%s</summary>\n%s", template.HTMLEscapeString(title), w.s.comment(w.page, w.d, e.Doc, 6))
		w.code(strings.TrimSpace(b.String()))
		if e.Output != "" {
			w.printf("<p>Output:</p>\n<pre class=\"chroma\">%s</pre>\n", template.HTMLEscapeString(e.Output))
		}
		w.printf("</details>\n")
	}
}
