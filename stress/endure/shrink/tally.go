package shrink

import (
	"fmt"
	"io"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// Counts are over all rounds.
type counts struct {
	turns   int
	planned [moments]int
}

// add counts a round, and returns its fault: one rank must be left, the one that the draw leaves.
func (c *counts) add(r *trial.Result, seed uint64, n int) string {
	living := upTo(n)
	for turn := 0; len(living) > 1; turn++ {
		p := draw(seed, turn, living)
		for _, d := range p.deaths {
			c.planned[d.when]++
		}
		living = p.without(living)
	}
	lines := strings.Split(strings.TrimSuffix(r.Stdout, "\n"), "\n")
	var rank, turns int
	if got, _ := fmt.Sscanf(lines[0], "shrink: rank %d is left, turns=%d", &rank, &turns); got != 2 || len(lines) > 1 || rank != living[0] {
		return fmt.Sprintf("want one line, of rank %d", living[0])
	}
	c.turns += turns
	return c.deaths(r, rank, n)
}

// deaths returns the fault of the list of the dead, which must have all ranks but one, each once.
func (c *counts) deaths(r *trial.Result, left, n int) string {
	seen := map[int]bool{left: true}
	for _, d := range r.Deaths() {
		if seen[d.Rank] {
			return fmt.Sprintf("the death of rank %d is reported, and rank %d is left", d.Rank, left)
		}
		seen[d.Rank] = true
	}
	if len(seen) != n {
		return fmt.Sprintf("%d deaths are reported", len(seen)-1)
	}
	return ""
}

func (c *counts) print(out io.Writer) {
	fmt.Fprintf(out, "turns=%d; deaths planned:", c.turns)
	for m, count := range c.planned {
		fmt.Fprintf(out, " %s %d,", moment(m), count)
	}
	fmt.Fprintln(out, " one rank left in each")
}
