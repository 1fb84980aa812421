package heat

import (
	"fmt"
	"io"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A tally has a row of counts for each kind of case.
type tally struct {
	rows  map[string]*row
	wrong int
}

type row struct {
	runs, right int
	by          [5]int // runs by the number of ranks that the repairs lost
	report      report // added up
	slowest     time.Duration
}

func newTally() *tally {
	t := &tally{rows: map[string]*row{}}
	for _, k := range kinds {
		t.rows[k] = &row{}
	}
	return t
}

func (t *tally) add(kind string, r *trial.Result, bad string) {
	w, s := t.rows[kind], reportOf(r.Stdout)
	w.runs++
	if bad == "" {
		w.right++
	} else {
		t.wrong++
	}
	w.by[min(s.lost, len(w.by)-1)]++
	w.report.repairs += s.repairs
	w.report.lost += s.lost
	w.report.restarts += s.restarts
	w.report.inRepair += s.inRepair
	w.slowest = max(w.slowest, r.Took)
}

// print prints a row per kind. A rank that died before the first step or after the agreement on the
// result is in no repair.
func (t *tally) print(out io.Writer) {
	const format = "%-29s %5v %6v   %-20v %7v %9v %8v %9v\n"
	fmt.Fprintf(out, format, "kind", "runs", "right", "lost 0/1/2/3/4", "repairs", "in repair", "restarts", "slowest")
	var sum row
	for _, k := range kinds {
		w := t.rows[k]
		w.print(out, format, k)
		sum.runs += w.runs
		sum.right += w.right
		for i := range sum.by {
			sum.by[i] += w.by[i]
		}
		sum.report.repairs += w.report.repairs
		sum.report.inRepair += w.report.inRepair
		sum.report.restarts += w.report.restarts
		sum.slowest = max(sum.slowest, w.slowest)
	}
	sum.print(out, format, "all")
}

func (w *row) print(out io.Writer, format, name string) {
	b := w.by
	fmt.Fprintf(out, format, name, w.runs, w.right, fmt.Sprintf("%d/%d/%d/%d/%d", b[0], b[1], b[2], b[3], b[4]),
		w.report.repairs, w.report.inRepair, w.report.restarts, w.slowest.Round(time.Millisecond))
}
