package tidy

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// namingPages are the pages that name functions for readers to call.
var namingPages = []string{"README.md", "docs/TUTORIAL.md", "docs/FROM_MPI.md", "docs/ONESIDED.md", "docs/ENGINES.md", "docs/GLOSSARY.md", RulesPath}

var mention = regexp.MustCompile(`\b(comm|collectives|ulfm|commtest|file|rma|shmem)\.([A-Z]\w*)`)

// Names requires that every name of a published package on a page for users, such as
// comm.Send, exists.
func Names(t *Tree) ([]Finding, error) {
	known := map[string]bool{}
	for _, dir := range published {
		for _, d := range t.exported(dir) {
			known[d.name] = true
		}
	}
	var found []Finding
	for _, p := range namingPages {
		page, err := fs.ReadFile(t.Files, p)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(page), "\n") {
			for _, m := range mention.FindAllStringSubmatch(line, -1) {
				if !known[m[1]+"."+m[2]] {
					found = append(found, Finding{fmt.Sprintf("%s:%d", p, i+1), m[0] + " does not exist"})
				}
			}
		}
	}
	return found, nil
}
