package tidy

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Tree is a checkout: its files, and its Go files parsed.
type Tree struct {
	Files    fs.FS
	Module   string // path of the module at the root
	Packages []*Package
	fset     *token.FileSet
}

// Package is one folder with Go files.
type Package struct {
	Dir   string // slash-separated, from the root
	Files []*File
}

// File is one parsed Go file.
type File struct {
	Path string
	AST  *ast.File
	Test bool // its name ends in _test.go
}

// Finding is one broken rule at one place.
type Finding struct {
	At   string // path, or path:line
	Text string
}

// String prints the finding as a compiler would.
func (f Finding) String() string { return f.At + ": " + f.Text }

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// Load reads the checkout with the root of files as its root. As the go command does, it
// skips testdata, vendor, and folders that begin with a dot or an underscore.
func Load(files fs.FS) (*Tree, error) {
	mod, err := fs.ReadFile(files, "go.mod")
	if err != nil {
		return nil, err
	}
	m := moduleLine.FindSubmatch(mod)
	if m == nil {
		return nil, errors.New("go.mod: no module line")
	}
	t := &Tree{Files: files, Module: string(m[1]), fset: token.NewFileSet()}
	err = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".go":
			return nil
		}
		return t.parse(p)
	})
	return t, err
}

func skipped(dir string) bool {
	return dir == "testdata" || dir == "vendor" || dir != "." && strings.ContainsAny(dir[:1], "._")
}

func (t *Tree) parse(p string) error {
	src, err := fs.ReadFile(t.Files, p)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(t.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := t.pkg(path.Dir(p))
	if pkg == nil {
		pkg = &Package{Dir: path.Dir(p)}
		t.Packages = append(t.Packages, pkg)
	}
	pkg.Files = append(pkg.Files, &File{Path: p, AST: f, Test: strings.HasSuffix(p, "_test.go")})
	return nil
}

// pkg returns the package in folder dir, or nil.
func (t *Tree) pkg(dir string) *Package {
	i := slices.IndexFunc(t.Packages, func(p *Package) bool { return p.Dir == dir })
	if i < 0 {
		return nil
	}
	return t.Packages[i]
}

// ours returns the folder of an import path of this module.
func (t *Tree) ours(importPath string) (dir string, ok bool) {
	if importPath == t.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Module+"/")
}

// code returns the files of p that are not tests.
func (p *Package) code() []*File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f *File) bool { return f.Test })
}

func (t *Tree) finding(n ast.Node, format string, args ...any) Finding {
	pos := t.fset.Position(n.Pos())
	return Finding{At: fmt.Sprintf("%s:%d", pos.Filename, pos.Line), Text: fmt.Sprintf(format, args...)}
}
