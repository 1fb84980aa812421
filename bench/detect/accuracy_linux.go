package main

import (
	"context"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/testing/harness/figure"
	"github.com/goulfm/goulfm/internal/testing/harness/heartbeats"
)

// loads are the loads of a job during the search for false positives.
var loads = []string{loadIdle, loadCompute, loadP2P, loadColl, loadStart}

// loadStart starts jobs that do nothing, one after the other.
const loadStart = "starting"

// ladder is the periods of the search, in ms, from the longest down; the papers stop at 20 and 1.
var ladder = map[int][]int{2: {500, 200, 100, 50, 20, 10, 5}, 10: {100, 50, 20, 10, 5, 2, 1}}

// accuracy is D5, with a timeout of 2 periods like RDAEMON#, and D6, with 10 like the detector of
// ULFM. The period is made shorter until a living node is declared dead (PARCO 2019, section 5.2,
// figure 8; SC 2016, section 5.3).
func (b *bench) accuracy(ctx context.Context, id string, factor int) (*figure.Figure, error) {
	f := &figure.Figure{ID: id, Title: fmt.Sprintf("%s: wrongly lost nodes while nothing is done to them, T = %dP, C = 1 ms", id, factor), XLabel: "period P, ms", YLabel: fmt.Sprintf("1: a node was lost within %v", b.look())}
	n := b.sizes([]int{4}, []int{2})[0]
	papers := paperAccuracy[id]
	for _, load := range loads {
		c, frozen := f.Add(load, true), 0
		least, wrongAt := "none", "none"
		for _, ms := range ladder[factor] {
			s := setting{period: time.Duration(ms) * time.Millisecond, factor: factor, confirm: time.Millisecond}
			o, err := b.lookFor(ctx, s, n, load)
			if err != nil {
				return nil, fmt.Errorf("%s, P %v: %w", load, s.period, err)
			}
			c.At(float64(ms), float64(o.lost))
			frozen += o.frozen
			say("%s, %s, P %v: %d lost, %d frozen", id, load, s.period, o.lost, o.frozen)
			if o.lost > 0 {
				if wrongAt = s.period.String(); o.failed {
					wrongAt += ", the job failed"
				}
				break
			}
			least = s.period.String()
		}
		off, err := b.lookFor(ctx, withoutHeartbeats(factor), n, load)
		if err != nil {
			return nil, fmt.Errorf("%s, without heartbeats: %w", load, err)
		}
		say("%s, %s, without heartbeats: %d lost", id, load, off.lost)
		f.Row(fmt.Sprintf("%s, %d nodes, %v each, T = %dP: least P without a false positive", load, n, b.look(), factor), papers[load],
			"%s (first with one: %s); nodes stood still %d times; the same without heartbeats: %d lost", least, wrongAt, frozen, off.lost)
	}
	return f, nil
}

// withoutHeartbeats is the control of D5 and D6: the same job, with a period that no run lives to
// see. A job that fails with these settings does not fail because of the detector.
func withoutHeartbeats(factor int) setting {
	return setting{period: heartbeats.Off, factor: factor, confirm: time.Millisecond}
}

// paperAccuracy is the papers' results for the least period.
var paperAccuracy = map[string]map[string]string{
	"D5": {loadP2P: "20 ms (64 nodes, IMB)", loadColl: "20 ms (64 nodes, IMB)", loadStart: "the source of the 20 ms", loadIdle: "", loadCompute: ""},
	"D6": {loadP2P: "10 ms; 2.5 ms with occasional ones", loadColl: "10 ms; 25 ms to meet all deadlines", loadCompute: "1 ms", loadIdle: "", loadStart: ""},
}

// An observation is the fate of nodes without any fault.
type observation struct {
	lost, frozen int
	failed       bool // the job failed before the loss of a node was reported
}

func (o *observation) add(more observation) {
	o.lost, o.frozen, o.failed = o.lost+more.lost, o.frozen+more.frozen, o.failed || more.failed
}

// lookFor runs jobs for the time of one search, or until a node is lost.
func (b *bench) lookFor(ctx context.Context, s setting, n int, load string) (o observation, err error) {
	if load != loadStart {
		return b.leaveAlone(ctx, s, n, load, fmt.Sprint(b.look().Seconds()))
	}
	for begin := time.Now(); time.Since(begin) < b.look() && o.lost == 0; {
		more, err := b.leaveAlone(ctx, s, n, roleNothing)
		if err != nil {
			return o, err
		}
		o.add(more)
	}
	return o, nil
}

// leaveAlone runs one job to its end and counts.
func (b *bench) leaveAlone(ctx context.Context, s setting, n int, role ...string) (o observation, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.look()+b.limit)
	defer cancel()
	g, err := b.start(ctx, n, s.flags(), role...)
	if err != nil {
		return o, err
	}
	defer g.end()
	for {
		e, ok, err := g.await(ctx)
		switch {
		case err != nil:
			return o, err
		case ok && (e.what == watch.Lost || e.what == someFailed):
			o.lost++ // one is enough
			return o, nil
		case ok && e.what == watch.Frozen:
			o.frozen++
		case !ok && g.err == nil:
			return o, nil
		case !ok && g.refused():
			return o, g.over() // no detector has started
		case !ok:
			// There was no fault in this job: any cause of its failure is a false positive, too.
			o.lost++
			o.failed = true
			say("P %v: %v", s.period, g.over())
			return o, nil
		}
	}
}
