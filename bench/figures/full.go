package main

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// A full world gives a detector to every process and carries every message, for comparison with the
// lazy world. Heartbeats are sent between other messages (RR-9024, §3.1.2). Heartbeats and notices
// have the same delays as in the lazy world.
type full struct {
	setting
	lazy  *world // for its agenda and its delays
	dets  []*fd.Detector
	port  []mono.Time // when a process can send the next message
	known []map[int]mono.Time
}

func newFull(s setting, n int, seed uint64) *full {
	f := &full{setting: s, lazy: newWorld(s, n, seed), port: make([]mono.Time, n)}
	for me := range n {
		f.dets = append(f.dets, fd.New(s.config(n, me, s.phase(seed, me))))
		f.known = append(f.known, map[int]mono.Time{})
		f.wake(me)
	}
	return f
}

func (f *full) kill(rank int, at mono.Time) {
	d := &death{rank: rank, at: at}
	f.lazy.deaths = append(f.lazy.deaths, d)
	f.lazy.byRank[rank] = d
	f.lazy.plan(at, func() { f.lazy.diedAt[rank] = at })
}

// run returns the results of the deaths.
func (f *full) run(until mono.Time) []*death {
	f.lazy.run(until)
	for _, d := range f.lazy.deaths {
		for rank := range f.dets {
			if f.lazy.lives(rank, until) {
				d.known = max(d.known, f.known[rank][d.rank])
				if f.known[rank][d.rank] == 0 {
					f.lazy.unheard++
				}
			}
		}
		d.spread = d.known.Sub(d.detected)
	}
	return f.lazy.deaths
}

func (f *full) wake(rank int) {
	at, ok := f.dets[rank].Deadline()
	if !ok {
		return
	}
	f.lazy.plan(max(at, f.lazy.now), func() {
		if still, ok := f.dets[rank].Deadline(); ok && still == at {
			f.step(rank, nil)
		}
	})
}

func (f *full) step(rank int, ev fd.Event) {
	now := f.lazy.now
	if !f.lazy.lives(rank, now) {
		return
	}
	for _, ev := range []fd.Event{ev, fd.Tick{Now: now}} {
		if ev == nil {
			continue
		}
		floods := false
		for _, a := range f.dets[rank].Step(ev) {
			switch a := a.(type) {
			case fd.Declare:
				f.known[rank][a.Rank] = now
				if a.Evidence != fd.BySilence {
					break
				}
				if d := f.lazy.byRank[a.Rank]; d.detected == 0 {
					d.detected = now
				}
				if !floods {
					floods = true
					f.lazy.floods++
				}
			case fd.Send:
				f.send(rank, a)
			}
		}
	}
	f.wake(rank)
}

func (f *full) send(from int, s fd.Send) {
	const kindHeartbeat, kindNotice = 1, 4
	w := f.lazy
	w.seq++
	key := uint64(w.seq)
	if s.Msg[0] == kindNotice {
		key = uint64(w.floods)
	}
	var arrives mono.Time
	if s.Msg[0] == kindHeartbeat {
		k := (w.now - w.phase(w.seed, from)) / mono.Time(w.period)
		arrives = w.now.Add(w.delay(w.seed, from, from, uint64(k)))
	} else {
		f.port[from] = max(f.port[from], w.now).Add(w.delay(w.seed, from, s.To, key))
		arrives = f.port[from]
		w.sent++
	}
	w.plan(arrives, func() {
		if s.Msg[0] == kindHeartbeat || w.lives(from, arrives) {
			f.step(s.To, fd.Receive{From: from, Msg: s.Msg})
		}
	})
}
