package tidy

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// TablePath is where the import table lives.
const TablePath = "docs/ARCHITECTURE.md"

// Table is the import table: the imports that each package may have. Rows stand in the
// order of the page, and the order matters: a row may import only rows above.
type Table struct{ Rows []Row }

// Row is one line of the table.
type Row struct {
	Line     int      // on the page, from 1
	Tier     int      // 0 words, 1 rules, 2 machinery, 3 public, 4 programs
	Packages []string // folders; "x/*" stands for all folders below x
	May      []Term   // admitted imports besides the standard library
	Planned  bool     // no such package yet
}

// Term is one entry of the column "may import": tiers Low to High, or the one
// package (or "x/*") called Name.
type Term struct {
	Low, High int
	Name      string
}

var (
	quoted  = regexp.MustCompile("`([^`]+)`")
	remark  = regexp.MustCompile(`\([^)]*\)`)
	tierSet = regexp.MustCompile(`^tiers? (\d+)(?:-(\d+))?(?: above| only)?$`)
)

// header starts the table on the page.
var header = []string{"tier", "package", "may import (ours)", "holds"}

// ReadTable parses the import table of the page.
func ReadTable(files fs.FS) (*Table, error) {
	page, err := fs.ReadFile(files, TablePath)
	if err != nil {
		return nil, err
	}
	t := &Table{}
	inside := false
	for i, line := range strings.Split(string(page), "\n") {
		cells := cells(line)
		switch {
		case !inside:
			inside = slices.Equal(cells, header)
		case cells == nil:
			return t, t.check()
		case strings.Trim(cells[0], "-: ") == "": // the line under the header
		default:
			row, err := parseRow(i+1, cells)
			if err != nil {
				return nil, err
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if !inside {
		return nil, fmt.Errorf("%s: no table with the header | %s |", TablePath, strings.Join(header, " | "))
	}
	return t, t.check()
}

// cells splits a line of a Markdown table. For other lines it returns nil.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil
	}
	cs := strings.Split(line[1:len(line)-1], "|")
	for i := range cs {
		cs[i] = strings.TrimSpace(cs[i])
	}
	return cs
}

func parseRow(line int, cells []string) (Row, error) {
	r := Row{Line: line}
	if len(cells) != len(header) {
		return r, fmt.Errorf("%s:%d: %d cells instead of %d", TablePath, line, len(cells), len(header))
	}
	number, _, _ := strings.Cut(cells[0], " ")
	tier, err := strconv.Atoi(number)
	if err != nil {
		return r, fmt.Errorf("%s:%d: the first cell must begin with the number of the tier", TablePath, line)
	}
	r.Tier = tier
	for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
		r.Packages = append(r.Packages, m[1])
	}
	if len(r.Packages) == 0 {
		return r, fmt.Errorf("%s:%d: no `package` in the second cell", TablePath, line)
	}
	r.May = parseTerms(cells[2])
	r.Planned = strings.Contains(cells[3], "(planned)")
	return r, nil
}

// parseTerms reads "tier 0, flood, fd (its Config)"; "-" is none.
func parseTerms(cell string) []Term {
	cell = strings.ReplaceAll(remark.ReplaceAllString(cell, ""), "`", "")
	var terms []Term
	for s := range strings.SplitSeq(cell, ",") {
		s = strings.TrimSpace(s)
		if s == "" || s == "-" {
			continue
		}
		m := tierSet.FindStringSubmatch(s)
		if m == nil {
			terms = append(terms, Term{Name: s})
			continue
		}
		low, _ := strconv.Atoi(m[1]) // digits by the expression
		high := low
		if m[2] != "" {
			high, _ = strconv.Atoi(m[2])
		}
		terms = append(terms, Term{Low: low, High: high})
	}
	return terms
}

// check finds mistakes of the table itself: a package listed twice, and a name
// in the third column that no row above has.
func (t *Table) check() error {
	seen := map[string]int{}
	for i, r := range t.Rows {
		for _, p := range r.Packages {
			if at, twice := seen[p]; twice {
				return fmt.Errorf("%s:%d: %s is listed on line %d already", TablePath, r.Line, p, at)
			}
			seen[p] = r.Line
		}
		for _, term := range r.May {
			if term.Name != "" && !slices.ContainsFunc(t.Rows[:i], func(above Row) bool { return above.named(term.Name) }) {
				return fmt.Errorf("%s:%d: no row above is called %q", TablePath, r.Line, term.Name)
			}
		}
	}
	return nil
}

// named reports whether the row lists a folder that name can mean: this folder, or
// the folder in internal.
func (r Row) named(name string) bool {
	return slices.ContainsFunc(r.Packages, func(p string) bool {
		return stands(name, p) || p == name
	})
}

// stands reports whether name, as the third column writes it, means folder dir: the folder itself,
// or one in internal or in a group of internal.
func stands(name, dir string) bool {
	inner, internal := strings.CutPrefix(dir, "internal/")
	_, grouped, _ := strings.Cut(inner, "/")
	return covers(name, dir) || internal && (covers(name, inner) || covers(name, grouped))
}

// covers reports whether pattern ("x", or "x/*" for all below x) includes dir.
func covers(pattern, dir string) bool {
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(dir, base+"/")
	}
	return pattern == dir
}

// find returns the index of the row that lists dir, or -1. A row with the name of the
// folder has precedence over a row that covers the folder by "x/*".
func (t *Table) find(dir string) int {
	exact := slices.IndexFunc(t.Rows, func(r Row) bool { return slices.Contains(r.Packages, dir) })
	if exact >= 0 {
		return exact
	}
	return slices.IndexFunc(t.Rows, func(r Row) bool {
		return slices.ContainsFunc(r.Packages, func(p string) bool { return covers(p, dir) })
	})
}

// allows reports whether the third column of row from admits folder dir, which row
// to lists.
func (t *Table) allows(from, to int, dir string) bool {
	return slices.ContainsFunc(t.Rows[from].May, func(m Term) bool {
		if m.Name != "" {
			return stands(m.Name, dir)
		}
		return m.Low <= t.Rows[to].Tier && t.Rows[to].Tier <= m.High
	})
}
