package main

import (
	"fmt"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/fd/beat"
)

// careless is the requested quality for the part "mistakes": with so many wrong suspicions that
// minutes show their rate.
var careless = adaptive.QoS{Detection: 500 * adaptive.Millisecond, Recurrence: 30 * adaptive.Second, Duration: adaptive.Second}

// machineAt is the delay of a process from which a simultaneous mistake is also attributed to the
// machine.
const machineAt = 50 * time.Millisecond

// tally counts the events of one live emitter.
type tally struct {
	mistakes int // wrong suspicions
	declared int // wrong suspicions that became declarations
	machine  int // wrong suspicions while one of the three processes was late itself
	ended    int // wrong suspicions that ended by a beat
	length   time.Duration
	kept     int // 1 if the detector reports at the end that the quality is attainable
}

// mistakes counts wrong suspicions.
func mistakes(p plan) ([]row, error) {
	b, err := newBed(careless, p.seed)
	if err != nil {
		return nil, err
	}
	defer b.close()
	list, _, err := b.newTargets(p.emitters, p.known, p.weather)
	defer func() { endAll(list) }()
	if err != nil {
		return nil, err
	}
	type outcome struct {
		tally
		err error
	}
	outcomes := make(chan outcome)
	until := time.Now().Add(p.span)
	for _, t := range list {
		go func() {
			sum, err := t.count(until)
			outcomes <- outcome{sum, err}
		}()
	}
	sum := tally{}
	for range list {
		o := <-outcomes
		if err == nil {
			err = o.err
		}
		sum.add(o.tally)
	}
	return mistakeRows(sum, p), err
}

func (s *tally) add(t tally) {
	s.mistakes += t.mistakes
	s.declared += t.declared
	s.machine += t.machine
	s.ended += t.ended
	s.length += t.length
	s.kept += t.kept
}

// count counts the wrong suspicions of one emitter until a moment.
func (t *target) count(until time.Time) (sum tally, err error) {
	for len(t.news) > 0 { // of the time before
		if _, err := t.again(<-t.news); err != nil {
			return sum, err
		}
	}
	var since time.Time // of the suspicion; zero: none
	over := time.After(time.Until(until))
	for {
		select {
		case <-over:
			if t.seen.Stats().Quality.Attainable {
				sum.kept = 1
			}
			return sum, nil
		case n := <-t.news:
			switch {
			case n.Kind == beat.Suspected:
				since = n.at
				sum.mistakes++
				late, err := t.lateness(n.at)
				if err != nil {
					return sum, err
				}
				if late > machineAt {
					sum.machine++
				}
			case n.Kind == beat.Trusted && !since.IsZero():
				sum.ended++
				sum.length += n.at.Sub(since)
				since = time.Time{}
			case n.Kind == beat.Dead:
				sum.declared++
				since = time.Time{}
			}
			if _, err := t.again(n); err != nil {
				return sum, err
			}
		}
	}
}

// lateness returns the largest delay of observer, network and emitter in the detection time before
// a moment.
func (t *target) lateness(at time.Time) (time.Duration, error) {
	from := at.Add(-time.Duration(t.bed.qos.Detection))
	observer, network, err := t.bed.machineLate(from, at)
	if err != nil {
		return 0, err
	}
	var emitter time.Duration
	err = t.call("Late", Span{from, at}, &emitter)
	return max(observer, network, emitter), err
}

func mistakeRows(s tally, p plan) (rows []row) {
	of := fmt.Sprintf("%d emitters, %v", p.emitters, p.span)
	add := func(what, found, asked string) { rows = append(rows, row{"mistakes", of, what, found, asked}) }
	permitted := float64(p.emitters) * p.span.Seconds() / careless.Recurrence.Seconds()
	add("wrong suspicions", fmt.Sprint(s.mistakes), fmt.Sprintf("%.1f at most", permitted))
	add("of these while observer, network or emitter was late by more than "+ms(machineAt), fmt.Sprint(s.machine), "")
	add("of these declared", fmt.Sprint(s.declared), "")
	if s.ended > 0 {
		add(fmt.Sprintf("mean length of the %d that a beat ended", s.ended), ms(s.length/time.Duration(s.ended)), ms(time.Duration(careless.Duration))+" at most")
	}
	add("emitters of which the detector says that this is attainable", fmt.Sprint(s.kept), "")
	return rows
}
