package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
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
