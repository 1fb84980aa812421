package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A run is the amount of work.
type run struct {
	quick bool
	seed  uint64 // 0 for the figures of README.md
}

// seedOf returns the seed of one series of random numbers.
func (r run) seedOf(series uint64) uint64 { return series + r.seed<<44 }

// all lists the figures in the order of the papers.
var all = []struct {
	name string
	make func(run) []*figure
}{
	{"ring3", riskFigure},
	{"ring4", volatileFigures},
	{"ring5", poissonFigure},
	{"ring6", gossipFigures},
	{"ring10left", phaseFigure},
	{"ring10centre", concurrentFigure},
	{"ring10right", failuresFigure},
	{"ring10right-ranks", failuresRanksFigure},
	{"scale", scaleFigure},
	{"chen12", chenFigure},
	{"diet4", dietFigure},
	{"diet6", farmFigures},
	{"rates", ratesFigure},
	{"rivals", rivalFigures},
	{"era2", agreementFigures},
	{"era2a-ranks", ranksFigure},
	{"rdaemon11", processFigures},
	{"rdaemon14", nodeFigures},
	{"fenix", fenixFigures},
	{"lflr", lflrFigures},
}

// marker precedes the table of claims in README.md.
const marker = "<!-- table -->"

func main() {
	out := flag.String("out", "out", "folder for the CSV and SVG files")
	only := flag.String("only", "", "draw the figures whose name begins so; several with commas")
	quick := flag.Bool("quick", false, "small sizes, few runs")
	seed := flag.Uint64("seed", 0, "another series of random numbers; 0 is that of the table (rows of ERA have fixed ones)")
	table := flag.String("table", "", "file whose table of claims, after "+marker+", to replace")
	flag.Parse()
	if err := drawAll(*out, *only, *table, run{quick: *quick, seed: *seed}); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func drawAll(dir, only, table string, r run) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var rows strings.Builder
	failed := 0
	for _, entry := range all {
		if !slices.ContainsFunc(strings.Split(only, ","), func(begin string) bool { return strings.HasPrefix(entry.name, begin) }) {
			continue
		}
		begin := time.Now()
		for _, f := range entry.make(r) {
			if err := f.write(dir); err != nil {
				return err
			}
			for _, c := range f.claims {
				fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s |\n", f.id, c.what, c.paper, c.ours, c.holds)
				fmt.Printf("%-12s %-3s %s: paper %s; ours %s\n", f.id, c.holds, c.what, c.paper, c.ours)
				if c.holds == fails {
					failed++
				}
			}
		}
		fmt.Printf("%-12s %.1f s\n", entry.name, time.Since(begin).Seconds())
	}
	if table != "" {
		if err := replaceTable(table, rows.String(), only == ""); err != nil {
			return err
		}
	}
	if failed > 0 && !r.quick {
		return fmt.Errorf("%d claims do not hold", failed)
	}
	return nil
}

// title is how the table begins.
const title = "| figure | claim | paper | ours | holds |\n|---|---|---|---|---|\n"

// replaceTable puts rows into the table that follows the marker. Unless they are all, rows of other
// figures stay.
func replaceTable(path, rows string, all bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, tail, found := strings.Cut(string(text), marker)
	if !found {
		return fmt.Errorf("%s: no %s", path, marker)
	}
	if _, old, is := strings.Cut(tail, title); is && !all {
		rows = mergeRows(old, rows)
	}
	return os.WriteFile(path, []byte(head+marker+"\n"+title+rows), 0o644)
}

// mergeRows returns the old rows with those of figures that are in rows in the place of theirs, or
// at the end.
func mergeRows(old, rows string) string {
	figureOf := func(line string) string { id, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |"); return id }
	taken := map[string]bool{}
	for line := range strings.Lines(rows) {
		taken[figureOf(line)] = true
	}
	var before, after strings.Builder
	to := &before
	for line := range strings.Lines(old) {
		if taken[figureOf(line)] {
			to = &after
			continue
		}
		to.WriteString(line)
	}
	return before.String() + rows + after.String()
}
