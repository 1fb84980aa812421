package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// A weather is how a network treats beats at a moment: the chance of a loss, and whether
// nothing passes.
type weather struct {
	name   string
	loss   float64
	outage adaptive.Duration // mean length of an outage; 0 for none
	each   adaptive.Duration // mean time between two
	bound  float64           // mistakes of ours a month: the requested number, or none where the request is not attainable
}

var weathers = []weather{
	{name: "0.1 % lost", loss: 0.001, bound: 1},
	{name: "1 % lost", loss: 0.01, bound: 1},
	{name: "0.1 % lost, 3 s of outage each 10 minutes", loss: 0.001, outage: 3 * adaptive.Second, each: 600 * adaptive.Second, bound: 1},
	{name: "0.1 % lost, 15 s of outage each hour", loss: 0.001, outage: 15 * adaptive.Second, each: 3600 * adaptive.Second, bound: math.Inf(1)},
}

// ratesFigure compares mistakes a month with the requested number, one a month, over five years. It
// has the shipped rule, and a rule that predicts the next losses from the last 100 beats.
func ratesFigure(r run) []*figure {
	f := &figure{id: "rates", title: "mistakes a month where one is asked for, T_D 30 s", xLabel: "network (see README.md)", yLabel: "mistakes a month"}
	ours, naive := f.add("fd/adaptive", false), f.add("loss of the last 100 beats", false)
	years := 5.0
	if r.quick {
		years = 1
	}
	for i, w := range weathers {
		months := years * 365.25 / 30
		a := playYears(years, w, &shipped{}, rand.New(rand.NewPCG(r.seedOf(uint64(i)), 21)))
		b := playYears(years, w, &last100{}, rand.New(rand.NewPCG(r.seedOf(uint64(i)), 21)))
		ours.at(float64(i), float64(a.mistakes)/months)
		naive.at(float64(i), float64(b.mistakes)/months)
		want := "asked: at most 1 a month"
		if math.IsInf(w.bound, 1) {
			outlast := 30 * 86400 / w.each.Seconds() * math.Exp(-30/w.outage.Seconds())
			want = fmt.Sprintf("not attainable: %.0f outages a month last longer than T_D", outlast)
		}
		judge := f.claim
		if w.outage > 0 {
			judge = f.differs
		}
		judge(float64(a.mistakes)/months <= w.bound, "mistakes: "+w.name, want,
			"%.2f a month, %.0f new settings; with the loss of the last 100 beats %.1f, and %.0f new settings",
			float64(a.mistakes)/months, float64(a.settings)/months, float64(b.mistakes)/months, float64(b.settings)/months)
	}
	return []*figure{f}
}

// A setter is a detector as far as this figure needs one.
type setter interface {
	start()
	heard(at adaptive.Time, b adaptive.Beat)
	freshness() adaptive.Time
	period() adaptive.Duration
}

type shipped struct{ adaptive.Watch }

func (s *shipped) start() {
	s.Start(0, adaptive.QoS{}, adaptive.Limits{Confirm: adaptive.Unconfirmed})
}
func (s *shipped) heard(at adaptive.Time, b adaptive.Beat) { s.Heard(at, b, false) }
func (s *shipped) freshness() adaptive.Time                { return s.Freshness() }
func (s *shipped) period() adaptive.Duration               { return s.Wanted() }

// last100 takes the share of the last 100 beats that were lost for the loss, and any change
// of 10 % for a reason to change the period.
type last100 struct {
	last   adaptive.Beat
	at     adaptive.Time
	came   [100]bool
	lost   int
	was    int // lost, when the period was last computed
	wanted adaptive.Duration
}

func (l *last100) start() {
	for i := range l.came {
		l.came[i] = true
	}
	l.was = -1
	l.configure()
}

func (l *last100) configure() {
	if l.lost == l.was {
		return
	}
	l.was = l.lost
	s, _ := adaptive.Configure(adaptive.Network{Loss: float64(l.lost) / 100, Variance: 1e-6}, adaptive.QoS{}, adaptive.Limits{Confirm: adaptive.Unconfirmed, Beats: 1})
	if math.Abs(s.Period.Seconds()/max(l.wanted.Seconds(), 1e-9)-1) >= 0.1 {
		l.wanted = s.Period
	}
}

func (l *last100) heard(at adaptive.Time, b adaptive.Beat) {
	for seq := l.last.Seq + 1; seq <= b.Seq; seq++ {
		place, came := &l.came[seq%100], seq == b.Seq
		if *place && !came {
			l.lost++
		} else if !*place && came {
			l.lost--
		}
		*place = came
	}
	l.last, l.at = b, at
	l.configure()
}

func (l *last100) freshness() adaptive.Time  { return l.at.Add(30 * adaptive.Second) }
func (l *last100) period() adaptive.Duration { return l.wanted }

// next draws the outage that follows a moment: independent times, and independent lengths.
func (w weather) next(rng *rand.Rand, after adaptive.Time) (from, to adaptive.Time) {
	from = after.Add(seconds64(rng.ExpFloat64() * w.each.Seconds()))
	return from, from.Add(seconds64(rng.ExpFloat64() * w.outage.Seconds()))
}

type tally struct{ mistakes, settings int }

// playYears plays one emitter and one detector.
func playYears(years float64, w weather, d setter, rng *rand.Rand) (t tally) {
	d.start()
	now, end := adaptive.Time(0), adaptive.Time(seconds64(years*365.25*86400))
	from, to := end, end // of the next or present outage
	if w.outage > 0 {
		from, to = w.next(rng, 0)
	}
	period := d.period()
	for seq := uint32(1); now < end; seq++ {
		now = now.Add(period)
		for now >= to && to < end {
			from, to = w.next(rng, to)
		}
		if rng.Float64() < w.loss || now >= from {
			continue
		}
		at := now.Add(adaptive.Millisecond)
		if seq > 1 && at > d.freshness() {
			t.mistakes++
		}
		d.heard(at, adaptive.Beat{Seq: seq, Nominal: now, Period: period})
		if d.period() != period {
			period = d.period()
			t.settings++
		}
	}
	return t
}
