package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// micros is how long something takes, in us.
func micros(do func()) float64 {
	begun := time.Now()
	do()
	return float64(time.Since(begun)) / 1e3
}

// A work is an example and the arguments of its computation.
type work struct{ name, args string }

// Several seconds each; and a moment each.
var (
	worksFull  = []work{{"heat", "-nx 1500 -ny 1500 -steps 300 -tol 0 -print 0"}, {"minife", "-nx 24 -ny 24 -nz 48 -steps 20"}}
	worksQuick = []work{{"heat", "-nx 100 -ny 100 -steps 20 -tol 0 -print 0"}, {"minife", "-nx 4 -ny 4 -nz 8 -steps 2"}}
)

// protection compares whole programs, from their start to their end. One run commits at the
// interval for a failure in ten minutes, the other one never. The ratio of CPU times is less
// sensitive to a busy machine than the ratio of durations. The first of the two changes from round
// to round.
func (b *bench) protection() (all []goal, err error) {
	works := worksFull
	if b.quick {
		works = worksQuick
	}
	for _, w := range works {
		var with, ratio, used []float64
		file, err := b.example(w.name)
		if err != nil {
			return nil, err
		}
		for round := range b.roundsOr(7, 1) {
			took, cpu := [2]float64{}, [2]float64{}
			for turn := range took {
				way := (round + turn) % 2
				r, err := b.job(4, "", file, append(strings.Fields(w.args), strings.Fields([]string{"-every 1000000000", "-every 0 -mtbf 10m"}[way])...)...)
				if err != nil {
					return nil, err
				}
				took[way], cpu[way] = r.Took.Seconds(), r.CPU.Seconds()
			}
			with, ratio, used = append(with, took[1]), append(ratio, took[1]/took[0]), append(used, cpu[1]/cpu[0])
		}
		all = append(all, goal{what: fmt.Sprintf("protection when nothing fails: %s, 4 ranks, commits as at an MTBF of 10 min", w.name), anchor: "the same without commits, in the same round", unit: "s",
			ours: with, ratio: ratio, want: "< 1.01 x", met: max(record.Median(ratio), record.Median(used)) < 1.01, note: fmt.Sprintf("; of CPU time %s x", spread(used))})
	}
	return all, nil
}
