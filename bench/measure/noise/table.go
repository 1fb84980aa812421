package noise

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A setting is a period of heartbeats, or the time after which a silent rank is suspected, or
// neither.
type setting struct{ period, suspect time.Duration }

func (s setting) flags() []string {
	switch {
	case s.suspect > 0:
		return []string{"--suspect-after", s.suspect.String()}
	case s.period == 0:
		return nil
	}
	factor := max(4, int(timeoutMin/s.period))
	return []string{"--detector", "ring", "--period", s.period.String(), "--timeout-factor", strconv.Itoa(factor)}
}

// timeoutMin keeps a rank without a core from being declared dead.
const timeoutMin = 2 * time.Second

func (s setting) String() string {
	switch {
	case s.suspect > 0:
		return "s" + s.suspect.String()
	case s.period == 0:
		return "none"
	}
	return s.period.String()
}

// key identifies a row.
type key struct {
	bench   string
	n, size int
	unit    string
}

// A table has a median for each row, setting and round. The first setting and
// the last are without heartbeats.
type table struct {
	settings []setting
	rows     []key
	medians  map[key][][]float64 // by setting, by round
}

func newTable(periods, suspects []time.Duration) *table {
	t := &table{settings: []setting{{}}, medians: map[key][][]float64{}}
	for _, p := range periods {
		t.settings = append(t.settings, setting{period: p})
	}
	for _, d := range suspects {
		t.settings = append(t.settings, setting{suspect: d})
	}
	t.settings = append(t.settings, setting{})
	return t
}

func (t *table) add(s int, r record.Record) {
	k := key{r.Bench, r.N, r.Size, r.Unit}
	if t.medians[k] == nil {
		t.rows = append(t.rows, k)
		t.medians[k] = make([][]float64, len(t.settings))
	}
	t.medians[k][s] = append(t.medians[k][s], r.Summary().Median)
}

// overhead is the median over the rounds of the additional time of setting s compared with the
// first, as a fraction; below 0 if setting s was faster.
func (t *table) overhead(k key, s int) float64 {
	var over []float64
	base := t.medians[k][0]
	for round, v := range t.medians[k][s] {
		ratio := v / base[round]
		if record.MoreIsBetter(k.unit) {
			ratio = 1 / ratio
		}
		over = append(over, ratio-1)
	}
	return record.Median(over)
}

func (t *table) print(out io.Writer) error {
	line := fmt.Sprintf("%-10s %4s %8s %12s %6s", "# overhead", "n", "size", "none", "")
	for _, s := range t.settings[1:] {
		line += fmt.Sprintf(" %8s", s)
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return err
	}
	for _, k := range t.rows {
		line := fmt.Sprintf("%-10s %4d %8d %12.3f %-6s", k.bench, k.n, k.size, record.Median(t.medians[k][0]), k.unit)
		for s := 1; s < len(t.settings); s++ {
			line += fmt.Sprintf(" %7.1f%%", 100*t.overhead(k, s))
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, "# more time than without heartbeats; s1s: ranks count, and are suspected after 1 s without; the last column is a second run without: the spread")
	return err
}
