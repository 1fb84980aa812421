package tidy

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Ceilings holds, by unit and by measure, the values of units that do not meet a goal yet.
type Ceilings map[string]map[string]float64

func (c Ceilings) names() []string { return slices.Sorted(maps.Keys(c)) }

// ReadCeilings reads the file at [ProsePath]. Each line is "unit: measure value, ...".
func ReadCeilings(files fs.FS) (Ceilings, error) {
	text, err := fs.ReadFile(files, ProsePath)
	if err != nil {
		return nil, err
	}
	c := Ceilings{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, list, _ := strings.Cut(line, ": ")
		c[name] = map[string]float64{}
		for part := range strings.SplitSeq(list, ", ") {
			measure, value, _ := strings.Cut(part, " ")
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !isMeasure(measure) {
				return nil, fmt.Errorf("%s: %q is not a measure and its value", ProsePath, part)
			}
			c[name][measure] = v
		}
	}
	return c, nil
}

func isMeasure(name string) bool {
	return slices.ContainsFunc(measures, func(m measureOf) bool { return m.name == name })
}

// String is the text of the file.
func (c Ceilings) String() string {
	var b strings.Builder
	b.WriteString("# The units whose prose does not meet a goal yet. A ceiling only falls: docs/HACKING.md.\n")
	for _, name := range c.names() {
		var parts []string
		for _, m := range measures {
			if v, ok := c[name][m.name]; ok {
				parts = append(parts, fmt.Sprintf("%s %.1f", m.name, v))
			}
		}
		if len(parts) > 0 {
			b.WriteString(name + ": " + strings.Join(parts, ", ") + "\n")
		}
	}
	return b.String()
}

// ProseToday returns the value of every unit that does not meet a goal.
func ProseToday(t *Tree) (Ceilings, error) {
	units, err := proseUnits(t)
	c := Ceilings{}
	for _, u := range units {
		c[u.name] = map[string]float64{}
		for i := range measures {
			m := &measures[i]
			if (u.page || !m.pages) && m.exceeds(&u.counts, m.goal) {
				c[u.name][m.name] = m.value(&u.counts)
			}
		}
	}
	return c, err
}

// lowered returns c without removed units and without goals that are met, and with the values
// of today that are lower. No ceiling is raised or added.
func (c Ceilings) lowered(today Ceilings) Ceilings {
	low := Ceilings{}
	for name, ceilings := range c {
		low[name] = map[string]float64{}
		for measure, ceiling := range ceilings {
			if v, above := today[name][measure]; above {
				low[name][measure] = min(v, ceiling)
			}
		}
	}
	return low
}

// ProseTable lists all units with all measures, and the sum of packages and of pages below.
// An asterisk marks a value above its goal.
func ProseTable(t *Tree) (string, error) {
	units, err := proseUnits(t)
	packages, pages := &unit{name: "all packages"}, &unit{name: "all pages", page: true}
	var b strings.Builder
	fmt.Fprintf(&b, "%-36s %7s", "", "words")
	for _, m := range measures {
		fmt.Fprintf(&b, " %10s", m.name)
	}
	fmt.Fprintf(&b, " %11s %9s %6s\n", "the process", "latter", "long")
	for _, u := range units {
		if u.page {
			pages.add(&u.counts)
		} else {
			packages.add(&u.counts)
		}
	}
	for _, u := range append(units, packages, pages) {
		u.print(&b)
	}
	return b.String(), err
}

func (u *unit) print(b *strings.Builder) {
	fmt.Fprintf(b, "%-36s %7d", u.name, u.words)
	for i := range measures {
		m := &measures[i]
		if m.pages && !u.page {
			fmt.Fprintf(b, " %10s", "-")
			continue
		}
		mark := " "
		if m.exceeds(&u.counts, m.goal) {
			mark = "*"
		}
		fmt.Fprintf(b, " %9.1f%s", m.value(&u.counts), mark)
	}
	per := 1000 / float64(max(u.words, 1))
	long := 100 * float64(u.long) / float64(max(len(u.lengths), 1))
	fmt.Fprintf(b, " %11.1f %9.1f %6.1f\n", float64(u.process)*per, float64(u.latter)*per, long)
}

// DrawComments draws n comments of at least eight words, for a comparison with their code.
// The same seed draws the same comments of the same tree.
func DrawComments(t *Tree, n int, seed uint64) []Finding {
	var all []Finding
	for _, p := range t.Packages {
		for _, f := range p.code() {
			for _, g := range f.AST.Comments {
				if text := commentText(g); len(strings.Fields(text)) >= 8 {
					all = append(all, t.finding(g, "%s", text))
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}
