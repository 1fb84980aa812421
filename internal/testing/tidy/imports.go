package tidy

import (
	"fmt"
	"strconv"
)

// Imports compares the table with the code: every package is listed and not
// marked "(planned)", and imports only packages that its row admits and that stand
// above this row. A row may name a package that does not exist.
func Imports(t *Tree, table *Table) []Finding {
	var fs []Finding
	for _, p := range t.Packages {
		row := table.find(p.Dir)
		switch {
		case row < 0:
			fs = append(fs, Finding{p.Dir, "not in the import table of " + TablePath})
		case table.Rows[row].Planned:
			fs = append(fs, Finding{p.Dir, fmt.Sprintf(`exists: remove the mark "(planned)" at %s:%d`, TablePath, table.Rows[row].Line)})
		default:
			fs = append(fs, imports(t, table, row, p)...)
		}
	}
	return fs
}

func imports(t *Tree, table *Table, row int, p *Package) []Finding {
	var fs []Finding
	for _, f := range p.code() {
		for _, spec := range f.AST.Imports {
			importPath, _ := strconv.Unquote(spec.Path.Value) // checked by the parser
			dir, ours := t.ours(importPath)
			if !ours {
				continue
			}
			if why := refused(table, row, dir); why != "" {
				fs = append(fs, t.finding(spec, "%s may not import %s: %s", p.Dir, dir, why))
			}
		}
	}
	return fs
}

// refused returns the reason for which the package of row from may not import
// folder dir, or "".
func refused(table *Table, from int, dir string) string {
	to := table.find(dir)
	switch {
	case to < 0:
		return "not in the import table"
	case to >= from:
		return "it does not stand above it in the import table"
	case !table.allows(from, to, dir):
		return fmt.Sprintf("%s:%d does not name it", TablePath, table.Rows[from].Line)
	}
	return ""
}
