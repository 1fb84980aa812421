package tidy

import (
	"strings"
)

// Comments requires a package comment. For a library the comment begins "Package
// name", as godoc expects; for a program its form is free.
func Comments(t *Tree) []Finding {
	var fs []Finding
	for _, p := range t.Packages {
		files := p.code()
		if len(files) == 0 { // tests only
			files = p.Files
		}
		if why := comment(files); why != "" {
			fs = append(fs, Finding{p.Dir, why})
		}
	}
	return fs
}

func comment(files []*File) string {
	text := ""
	for _, f := range files {
		if f.AST.Doc != nil {
			text += f.AST.Doc.Text()
		}
	}
	name := files[0].AST.Name.Name
	switch {
	case strings.TrimSpace(text) == "":
		return "no package comment"
	case name != "main" && !strings.HasPrefix(text, "Package "+name+" "):
		return `the package comment must begin "Package ` + name + ` "`
	}
	return ""
}
