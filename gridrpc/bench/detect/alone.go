package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

const (
	// aloneRuns is the number of emitters in virtual time.
	aloneRuns = 31
	// aloneMost is the number of beats for which an emitter is followed after a change.
	aloneMost = 20_000
	// near is the factor by which the period may differ from that for the real network: estimates
	// have noise, and the rules permit a tenth.
	near = 1.25
)

// alone is an emitter and its observer in virtual time: the rules without delays of a machine. An
// Adjust takes no time. Its only pointers are to random sources, so that a copy continues
// independently.
type alone struct {
	watch  adaptive.Watch
	now    adaptive.Time
	seq    uint32
	random *rand.Rand
}

func newAlone(q adaptive.QoS, seed uint64) *alone {
	a := &alone{random: rand.New(rand.NewPCG(seed, 2))}
	a.watch.Start(0, q, adaptive.Limits{})
	return a
}

// beat sends one beat through a weather, with the requested period.
func (a *alone) beat(w faultproxy.Weather) {
	if a.seq%80 == 0 { // the interval of measurements of the path
		a.watch.Answered(a.now, a.late(w)+a.late(w), false)
	}
	period := a.watch.Wanted()
	if a.random.Float64() >= w.Loss {
		a.watch.Heard(a.now.Add(a.late(w)), adaptive.Beat{Seq: a.seq, Nominal: a.now, Period: period}, false)
	}
	a.seq++
	a.now = a.now.Add(period)
}

func (a *alone) late(w faultproxy.Weather) adaptive.Duration {
	return adaptive.Duration(w.Delay) + adaptive.Duration(a.random.Float64()*float64(w.Jitter))
}

// nears returns the number of beats until the period is first near to the given one.
func (a alone) nears(w faultproxy.Weather, period time.Duration) int {
	for n := range aloneMost {
		if off := float64(a.watch.Wanted()) / float64(period); off <= near && off >= 1/near {
			return n
		}
		a.beat(w)
	}
	return aloneMost
}

// aloneRows returns the rows of a scenario by the rules alone.
func aloneRows(scenario []change, beats int) (rows []row) {
	var runs []*alone
	for seed := range aloneRuns {
		a := newAlone(followed, uint64(seed))
		for range history {
			a.beat(fair(0, 2))
		}
		runs = append(runs, a)
	}
	for _, c := range scenario {
		set := predicted(c.weather, followed)
		var then []time.Duration
		var reached []int
		for _, a := range runs {
			reached = append(reached, a.nears(c.weather, set))
			for n := range beats {
				if n == goal {
					then = append(then, time.Duration(a.watch.Wanted()))
				}
				a.beat(c.weather)
			}
		}
		slices.Sort(reached)
		add := func(what, found, asked string) { rows = append(rows, row{"rules alone", c.name, what, found, asked}) }
		add(fmt.Sprintf("period after %d beats", goal), ms(median(then)), ms(set)+" for the network as it was set")
		add("beats until it is within a quarter of that, median and most", fmt.Sprintf("%d, %d", reached[len(reached)/2], reached[len(reached)-1]), "")
	}
	return rows
}
