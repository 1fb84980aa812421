package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A report collects the errors that commtest reports for a run.
type report struct {
	testing.TB // nil: no other method is called
	mu         sync.Mutex
	text       strings.Builder
}

func (r *report) Helper() {}

func (r *report) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.text, format+"\n", args...)
}

// runThreads runs a round with goroutine ranks.
func runThreads(o *options, r *round) *result {
	start := time.Now()
	var t report
	journals := make([]*journal, r.n)
	for i := range journals {
		journals[i] = new(journal)
	}
	var mu sync.Mutex
	dead := map[int]bool{}
	body := func(ctx context.Context, w *comm.Comm) {
		me := w.Rank()
		die := func(m *machine, d doom) {
			if d.kind == doomPoint {
				m.point.Store(int64(d.point))
				return
			}
			m.log.put(record{What: recDie, Op: d.kind, Procs: []int{me}})
			mu.Lock()
			dead[me] = true
			mu.Unlock()
			commtest.Kill(m.world)
		}
		fate := r.fateOf(me, die)
		defer fate.cancel()
		m := newMachine(r, o.operations(), w, journals[me], fate)
		if o.points {
			defer points.enter(func() {
				if m.point.Load() > 0 && m.point.Add(-1) == 0 {
					m.log.put(record{What: recDie, Op: doomPoint, Procs: []int{me}})
					mu.Lock()
					dead[me] = true
					mu.Unlock()
					commtest.Freeze(w)
				}
			})()
		}
		err := m.play(ctx)
		if err == nil {
			if err = w.Finalize(ctx); errors.Is(err, comm.ErrFenced) {
				err = errDead
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, errDead):
			mu.Lock()
			dead[me] = dead[me] || r.frame > 0 && me == r.victim
			mu.Unlock()
		default:
			if !trial.IsBroken(err) {
				t.Errorf("rank %d: %v", me, err)
			}
			fate.cancel()
			commtest.Kill(w) // so that the others do not wait for this rank
		}
	}
	nodes := commtest.Nodes(r.nodes)
	if nodes == nil {
		nodes = make(commtest.Nodes, r.n)
	}
	switch {
	case r.frame > 0:
		if nodes.RunKilled(&t, r.victim, r.frame, body) {
			dead[r.victim] = true
		}
	case r.nodes != nil:
		nodes.Run(&t, body)
	default:
		commtest.Run(&t, r.n, body)
	}
	res := &result{r: r, logs: logs{}, dead: dead, took: time.Since(start)}
	for i, j := range journals {
		res.logs[i] = j.records()
	}
	if text := t.text.String(); text != "" {
		res.bad, _, _ = strings.Cut(text, "\n")
		res.transcript = text
	}
	return res
}
