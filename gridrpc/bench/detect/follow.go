package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/relay"
)

const (
	// goal is within how many beats the period has to follow.
	goal = 200
	// history is how many beats have come before the network changes first.
	history = 300
	// slack is by which factor the period may differ from the wanted one: the rules change it at a change of a tenth.
	slack = 1.12
)

// followed is the quality that is asked for where the period is to follow.
var followed = adaptive.QoS{Detection: 500 * adaptive.Millisecond}

// A change is another weather, by name.
type change struct {
	name    string
	weather relay.Weather
}

// stories are what networks do: each begins with fair weather and emitters that are new.
var stories = [][]change{
	{{"jitter 2 -> 60 ms", fair(0, 60)}, {"jitter 60 -> 2 ms", fair(0, 2)}},
	{{"loss 0 -> 5 %", fair(0.05, 2)}, {"loss 5 -> 0 %", fair(0, 2)}},
}

// fair is a network without outages.
func fair(loss float64, jitter int) relay.Weather {
	return relay.Weather{Loss: loss, Delay: 5 * time.Millisecond, Jitter: time.Duration(jitter) * time.Millisecond}
}

// A sample is the state of one emitter some beats after a change.
type sample struct {
	beat   int
	sent   time.Duration // the period that it sends with
	wanted time.Duration // what the configuration says for what is measured
}

// follow shows that the period follows what is measured.
func follow(p plan) (rows []row, err error) {
	for _, story := range stories {
		more, err := tell(p, story)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func tell(p plan, story []change) (rows []row, err error) {
	b, err := newBed(followed, p.seed)
	if err != nil {
		return nil, err
	}
	defer b.close()
	list, _, err := b.newTargets(max(1, p.emitters/2), history, fair(0, 2))
	defer func() { endAll(list) }()
	if err != nil {
		return nil, err
	}
	for _, c := range story {
		traces, err := traceAll(list, c.weather, p.beats)
		if err != nil {
			return rows, err
		}
		rows = append(rows, followRows(c, traces)...)
	}
	return rows, nil
}

// traceAll changes the weather of all, and watches each for so many beats.
func traceAll(list []*target, w relay.Weather, beats int) ([][]sample, error) {
	traces, errs := make([][]sample, len(list)), make(chan error)
	for i, t := range list {
		go func() {
			var err error
			traces[i], err = t.trace(w, beats)
			errs <- err
		}()
	}
	var first error
	for range list {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return traces, first
}

// trace changes the weather, and watches for so many beats. The first sample is from before. An emitter that is held for
// dead meanwhile has begun anew, and has no trace.
func (t *target) trace(w relay.Weather, beats int) (trace []sample, err error) {
	var before Sight
	trace = append(trace, sample{0, time.Duration(t.seen.Figures().Period), t.wanted()})
	if err := t.bed.network.call("Change", Turn{t.way.ID, w}, &before); err != nil {
		return nil, err
	}
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for trace[len(trace)-1].beat < beats {
		select {
		case n := <-t.news:
			if again, err := t.again(n); err != nil || again > 0 {
				return nil, err
			}
		case <-tick.C:
			s, err := t.sight()
			if err != nil {
				return nil, err
			}
			trace = append(trace, sample{s.Beats - before.Beats, s.Period, t.wanted()})
		}
	}
	return trace, nil
}

// wanted returns the period that the configuration wants for what is measured.
func (t *target) wanted() time.Duration {
	s, _ := adaptive.Configure(t.seen.Figures().Network, t.bed.qos, adaptive.Limits{})
	return time.Duration(s.Period)
}

// predicted returns the period for a network whose loss and jitter are known.
func predicted(w relay.Weather, q adaptive.QoS) time.Duration {
	j := w.Jitter.Seconds()
	n := adaptive.Network{Loss: w.Loss, LossAgain: w.Loss, Variance: max(j*j/12, 1e-6), RTT: adaptive.Duration(2*w.Delay + w.Jitter)}
	s, _ := adaptive.Configure(n, q, adaptive.Limits{})
	return time.Duration(s.Period)
}

// lag returns for how many beats in a row an emitter had another period than the wanted one, at most.
func lag(trace []sample) (most int) {
	since := -1
	for _, s := range trace {
		switch off := float64(s.sent) / float64(s.wanted); {
		case off <= slack && off >= 1/slack:
			since = -1
		case since < 0:
			since = s.beat
		default:
			most = max(most, s.beat-since)
		}
	}
	return most
}

// after returns the state so many beats after the change.
func after(trace []sample, beats int) sample {
	i := slices.IndexFunc(trace, func(s sample) bool { return s.beat >= beats })
	return trace[i]
}

func followRows(c change, traces [][]sample) (rows []row) {
	var lags []int
	var before, sent, wanted, last []time.Duration
	for _, t := range traces {
		if len(t) == 0 {
			continue
		}
		lags = append(lags, lag(t))
		before = append(before, t[0].sent)
		sent, wanted = append(sent, after(t, goal).sent), append(wanted, after(t, goal).wanted)
		last = append(last, t[len(t)-1].sent)
	}
	add := func(what, found, asked string) { rows = append(rows, row{"follow", c.name, what, found, asked}) }
	if len(lags) == 0 {
		add("emitters that went on", "0", fmt.Sprint(len(traces)))
		return rows
	}
	add("period before", ms(median(before)), "")
	add(fmt.Sprintf("period after %d beats", goal), ms(median(sent)), ms(median(wanted))+" for what is measured then")
	add("period at the end", ms(median(last)), ms(predicted(c.weather, followed))+" for the network as it is")
	add(fmt.Sprintf("beats in a row with another period, most of %d emitters", len(lags)), fmt.Sprint(slices.Max(lags)), fmt.Sprint(goal))
	return rows
}

// median returns the middle one, of an even number the greater of two.
func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
