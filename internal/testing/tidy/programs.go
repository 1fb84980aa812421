package tidy

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// programFolders hold programs, each with a page README.md that lists them.
var programFolders = []string{"examples", "bench", "stress"}

// programRow is a row of such a page: a link to the folder of the program, its purpose, the command
// that runs it, and the time that it takes.
var programRow = regexp.MustCompile("(?m)^\\| \\[([^]]*)\\]\\(([^)]*)\\) \\| ([^|]*) \\| (`[^`]*`|[^|]*) \\| ([^|]*) \\|$")

// Programs requires a page in each folder of programs with a row for each program below the folder,
// in order and with no cell empty, and no other rows.
func Programs(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, folder := range programFolders {
		programs := t.programsBelow(folder)
		if len(programs) == 0 {
			continue
		}
		page := folder + "/README.md"
		text, err := fs.ReadFile(t.Files, page)
		if err != nil {
			return nil, err
		}
		var listed []string
		for _, m := range programRow.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			listed = append(listed, name)
			switch {
			case path.Clean(m[2]) != name:
				found = append(found, Finding{page, fmt.Sprintf("the row of %s has a link to %s", name, m[2])})
			case !slices.Contains(programs, name):
				found = append(found, Finding{page, fmt.Sprintf("lists %s, which is no program", name)})
			}
			for i, cell := range []string{"purpose", "command", "time"} {
				if strings.Trim(m[3+i], " `") == "" {
					found = append(found, Finding{page, fmt.Sprintf("the row of %s has no %s", name, cell)})
				}
			}
		}
		for _, name := range programs {
			if n := count(listed, name); n != 1 {
				found = append(found, Finding{page, fmt.Sprintf("has %d rows for the program %s", n, name)})
			}
		}
		if !slices.IsSorted(listed) {
			found = append(found, Finding{page, "the rows are not in the order of their names"})
		}
	}
	return found, nil
}

// programsBelow returns the folders of programs below a folder, without its name.
func (t *Tree) programsBelow(folder string) []string {
	var programs []string
	for _, p := range t.Packages {
		name, below := strings.CutPrefix(p.Dir, folder+"/")
		if below && slices.ContainsFunc(p.code(), func(f *File) bool { return f.AST.Name.Name == "main" }) {
			programs = append(programs, name)
		}
	}
	return programs
}

func count(list []string, name string) int {
	n := 0
	for _, one := range list {
		if one == name {
			n++
		}
	}
	return n
}
