package spectable

import (
	"fmt"
	"strings"
)

// PagePath is the page that shows the tables.
const PagePath = "docs/SEMANTICS.md"

// A Table is one table of the page, below a heading.
type Table struct {
	Heading string
	Text    string // lines that begin with "|"
}

// Tables are the tables of the page, from the data.
func Tables() []Table {
	by := map[byte][]Rule{}
	for _, rule := range Rules() {
		by[rule.ID[0]] = append(by[rule.ID[0]], rule)
	}
	return []Table{
		{"## R: rules for users", ruleTable(by['R'])},
		{"## C: choices where the specification is open", ruleTable(by['C'])},
		{"## W: one-sided windows", ruleTable(by['W'])},
		{"## When a context ends", contextTable()},
		{"## Known gaps", gapTable()},
	}
}

func ruleTable(rules []Rule) string {
	b := table("id", "rule", "tests", "status")
	for _, r := range rules {
		facts := strings.Split(r.Sentence, "\n")
		row(b, r.ID, facts[0], byPackage(r.Tests), status(r))
		for _, fact := range facts[1:] {
			row(b, "", fact, "", "")
		}
	}
	return b.String()
}

func status(r Rule) string {
	switch {
	case r.Status == Broken:
		return "gap, see below"
	case r.Note != "":
		return "holds; " + r.Note
	}
	return "holds"
}

func contextTable() string {
	b := table("calls", "over before the call", "ends while it waits", "tests")
	for _, c := range Contexts() {
		row(b, c.Calls, c.Before, c.During, byPackage(c.Tests))
	}
	return b.String()
}

func gapTable() string {
	b := table("gap", "concerns", "test")
	if len(Gaps()) == 0 {
		row(b, "none is known", "", "")
	}
	for _, g := range Gaps() {
		row(b, g.Why, g.Rules, byPackage([]string{g.Test}))
	}
	return b.String()
}

func table(heads ...string) *strings.Builder {
	var b strings.Builder
	row(&b, heads...)
	b.WriteString("|" + strings.Repeat("---|", len(heads)) + "\n")
	return &b
}

func row(b *strings.Builder, cells ...string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// byPackage prints "comm: `TestSpecA` `TestSpecB`; ulfm: `TestSpecC`". The names
// come sorted, so those of a package stand together.
func byPackage(tests []string) string {
	var b strings.Builder
	last := ""
	for _, t := range tests {
		pkg, name, _ := strings.Cut(t, ".")
		switch {
		case pkg == last:
		case last == "":
			b.WriteString(pkg + ":")
		default:
			b.WriteString("; " + pkg + ":")
		}
		last = pkg
		b.WriteString(" `" + name + "`")
	}
	return b.String()
}
