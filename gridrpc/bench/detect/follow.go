package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

const (
	// goal is the number of beats within which the period must follow.
	goal = 200
	// history is the number of beats before the first change of the network.
	history = 300
	// slack is the factor by which the period may differ from the requested one: the rules follow a
	// change of a tenth.
	slack = 1.12
)

// followed is the requested quality for the part "follow".
var followed = adaptive.QoS{Detection: adaptive.Second}

// A change is another weather, by name.
type change struct {
	name    string
	weather faultproxy.Weather
}

// scenarios are sequences of changes of a network. Each begins with fair weather and new emitters.
var scenarios = [][]change{
	{{"jitter 2 -> 60 ms", fair(0, 60)}, {"jitter 60 -> 2 ms", fair(0, 2)}},
	{{"loss 0 -> 5 %", fair(0.05, 2)}, {"loss 5 -> 0 %", fair(0, 2)}},
}

// fair is a network without outages.
func fair(loss float64, jitter int) faultproxy.Weather {
	return faultproxy.Weather{Loss: loss, Delay: 5 * time.Millisecond, Jitter: time.Duration(jitter) * time.Millisecond}
}

// A sample is the state of one emitter some beats after a change.
type sample struct {
	beat   int
	sent   time.Duration // the period of its beats
	wanted time.Duration // the period of the configuration for the measured network
}

// A trace has the samples of one emitter after a change. The first sample is from before.
type trace struct {
	samples  []sample
	measured adaptive.Network // at the end
	mistaken bool             // it was declared dead meanwhile, and has begun again: the trace does not count
	late     time.Duration    // the delay of observer, network or emitter at that time
}

// follow shows that the period follows the measurements.
func follow(p plan) (rows []row, err error) {
	told, errs := make([][]row, len(scenarios)), make([]error, len(scenarios))
	var wait sync.WaitGroup
	for i, scenario := range scenarios {
		wait.Go(func() { told[i], errs[i] = tell(p, scenario) })
	}
	wait.Wait()
	for i, scenario := range scenarios {
		told[i] = append(told[i], aloneRows(scenario, p.beats)...)
	}
	return slices.Concat(told...), errors.Join(errs...)
}

func tell(p plan, scenario []change) (rows []row, err error) {
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
	for _, c := range scenario {
		traces, err := traceAll(list, c.weather, p.beats)
		if err != nil {
			return rows, err
		}
		rows = append(rows, followRows(c, traces)...)
	}
	return rows, nil
}

// traceAll changes the weather of all targets, and follows each for a number of beats.
func traceAll(list []*target, w faultproxy.Weather, beats int) ([]trace, error) {
	traces, errs := make([]trace, len(list)), make([]error, len(list))
	var wait sync.WaitGroup
	for i, t := range list {
		wait.Go(func() { traces[i], errs[i] = t.trace(w, beats) })
	}
	wait.Wait()
	return traces, errors.Join(errs...)
}

// trace waits for a history, changes the weather, and follows the target for a number of beats.
func (t *target) trace(w faultproxy.Weather, beats int) (tr trace, err error) {
	if _, err := t.settle(min(history, beats)); err != nil {
		return tr, err
	}
	var before Sight
	if err := t.bed.network.call("Change", Turn{t.way.ID, w}, &before); err != nil {
		return tr, err
	}
	tr.samples = append(tr.samples, sample{0, before.Period, t.wanted()})
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for tr.samples[len(tr.samples)-1].beat < beats {
		select {
		case n := <-t.news:
			again, err := t.again(n)
			if err != nil {
				return tr, err
			}
			if again > 0 {
				tr.mistaken = true
				tr.late, err = t.lateness(n.at)
				return tr, err
			}
		case <-tick.C:
			s, err := t.sight()
			if err != nil {
				return tr, err
			}
			if s.Stream == t.stream {
				tr.samples = append(tr.samples, sample{s.Beats - before.Beats, s.Period, t.wanted()})
			}
		}
	}
	tr.measured = t.seen.Stats().Network
	return tr, nil
}

// wanted returns the period of the configuration for the measured network.
func (t *target) wanted() time.Duration {
	s, _ := adaptive.Configure(t.seen.Stats().Network, t.bed.qos, adaptive.Limits{})
	return time.Duration(s.Period)
}

// predicted returns the period for a network whose loss and jitter are known.
func predicted(w faultproxy.Weather, q adaptive.QoS) time.Duration {
	j := w.Jitter.Seconds()
	n := adaptive.Network{Loss: w.Loss, LossAgain: w.Loss, Variance: max(j*j/12, 1e-6), RTT: adaptive.Duration(2*w.Delay + w.Jitter)}
	s, _ := adaptive.Configure(n, q, adaptive.Limits{})
	return time.Duration(s.Period)
}

// lag returns the largest number of beats in a row with another period than the wanted one.
func lag(list []sample) (most int) {
	since := -1
	for _, s := range list {
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

// after returns the state a number of beats after the change.
func after(list []sample, beats int) sample {
	return list[slices.IndexFunc(list, func(s sample) bool { return s.beat >= beats })]
}

func followRows(c change, traces []trace) (rows []row) {
	add := func(what, found, asked string) { rows = append(rows, row{"follow", c.name, what, found, asked}) }
	var lags []int
	var before, sent, wanted, last, deviation []time.Duration
	loss := 0.0
	for _, t := range traces {
		if t.mistaken {
			add("an emitter was held for dead", fmt.Sprintf("observer, network or emitter itself late by %s", ms(t.late)), "")
			continue
		}
		then := after(t.samples, goal)
		lags, before = append(lags, lag(t.samples)), append(before, t.samples[0].sent)
		sent, wanted = append(sent, then.sent), append(wanted, then.wanted)
		last = append(last, t.samples[len(t.samples)-1].sent)
		deviation = append(deviation, time.Duration(math.Sqrt(t.measured.Variance)*1e9))
		loss += t.measured.Loss
	}
	if len(lags) == 0 {
		return rows
	}
	add("period before", ms(median(before)), "")
	add(fmt.Sprintf("period after %d beats", goal), ms(median(sent)), ms(median(wanted))+" for what is measured then")
	add("period at the end", ms(median(last)), ms(predicted(c.weather, followed))+" for the network as it was set")
	add("measured at the end: loss", fmt.Sprintf("%.2f %%", 100*loss/float64(len(lags))), fmt.Sprintf("%.2f %%", 100*c.weather.Loss))
	add("measured at the end: deviation of delays", ms(median(deviation)), ms(time.Duration(float64(c.weather.Jitter)/math.Sqrt(12))))
	add(fmt.Sprintf("beats in a row with another period, most of %d emitters", len(lags)), fmt.Sprint(slices.Max(lags)), fmt.Sprint(goal))
	return rows
}

// median returns the middle value, for an even number the greater of the two.
func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
