package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	link = regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// Links requires that each link of a page to the repository leads to a file. Text in
// code is no link.
func Links(t *Tree) ([]Finding, error) {
	var found []Finding
	err := fs.WalkDir(t.Files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (skipped(d.Name()) || notOurText(p)):
			return fs.SkipDir
		case path.Ext(p) != ".md":
			return nil
		}
		page, err := fs.ReadFile(t.Files, p)
		if err != nil {
			return err
		}
		prose := code.ReplaceAllStringFunc(string(page), func(c string) string { return strings.Repeat("\n", strings.Count(c, "\n")) })
		for i, line := range strings.Split(prose, "\n") {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				to := path.Join(path.Dir(p), m[1])
				if strings.Contains(m[1], "://") {
					continue
				}
				if _, err := fs.Stat(t.Files, to); err != nil {
					found = append(found, Finding{fmt.Sprintf("%s:%d", p, i+1), "a link to " + to + ", which does not exist"})
				}
			}
		}
		return nil
	})
	return found, err
}

var sourceName = regexp.MustCompile(`[\w./-]*\w/\w+\.go\b`)

// SourceNames requires that each Go file that a page of docs names, with its folder, exists: some
// path of the repository ends with the name. The tutorial names files of the reader, and is not
// checked.
func SourceNames(t *Tree) ([]Finding, error) {
	pages, err := fs.Glob(t.Files, "docs/*.md")
	if err != nil {
		return nil, err
	}
	sources, err := goFiles(t.Files)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, p := range pages {
		page, err := fs.ReadFile(t.Files, p)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(page), "\n") {
			for _, name := range sourceName.FindAllString(line, -1) {
				end := "/" + strings.TrimLeft(name, "./")
				if p != "docs/TUTORIAL.md" && !slices.ContainsFunc(sources, func(s string) bool { return strings.HasSuffix("/"+s, end) }) {
					found = append(found, Finding{fmt.Sprintf("%s:%d", p, i+1), "no file " + name})
				}
			}
		}
	}
	return found, nil
}

// goFiles returns the paths of all Go files.
func goFiles(files fs.FS) ([]string, error) {
	var all []string
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return fs.SkipDir
		case path.Ext(p) == ".go":
			all = append(all, p)
		}
		return nil
	})
	return all, err
}
