package main

import (
	"slices"
	"time"

	"github.com/goulfm/goulfm/comm"
)

// messageOps are operations of two ranks, or of many ranks that each name one peer. Operations with
// stays set consist of parts that each fail only by the death of their own peer.
var messageOps = []*operation{
	{name: "shift", weight: 6, run: runShift},
	{name: "swap", weight: 4, run: pairwise(swap), stays: true},
	{name: "swap-in-place", weight: 3, run: pairwise(swapInPlace), stays: true},
	{name: "pingpong", weight: 6, run: pairwise(pingpong), stays: true},
	{name: "exchange", weight: 5, run: runExchange, stays: true},
	{name: "exchange-any", weight: 4, run: runExchangeAny},
	{name: "fan-in", weight: 4, run: runFanIn},
	{name: "wait-any", weight: 4, run: runStar(waitAny), stays: true},
	{name: "wait-some", weight: 3, run: runStar(waitSome), stays: true},
	{name: "test-any", weight: 3, run: runStar(testAny), stays: true},
	{name: "ssend-ring", weight: 5, run: runSsendRing, stays: true},
	{name: "persistent", weight: 4, run: pairwise(persistent), stays: true},
	{name: "values", weight: 3, run: pairwise(values), stays: true},
	{name: "records", weight: 3, run: pairwise(records), stays: true},
	{name: "mprobe", weight: 4, run: pairwise(mprobe), stays: true},
	{name: "iprobe", weight: 2, run: pairwise(iprobe), stays: true},
	{name: "cancel", weight: 3, run: runCancel, stays: true},
	{name: "free-request", weight: 3, run: pairwise(freeRequest), stays: true},
	{name: "in-order", weight: 4, run: pairwise(inOrder), stays: true},
	{name: "short-waits", weight: 4, run: pairwise(shortWaits), stays: true},
	{name: "waiters", weight: 4, run: pairwise(waiters), stays: true},
	{name: "pending", weight: 4, run: pairwise(receiveAny), stays: true},
	{name: "truncated", weight: 1, run: pairwise(truncated), stays: true},
	{name: "isend-later", weight: 4, run: pairwise(isendLater), stays: true},
	{name: "never-received", weight: 2, run: runNeverReceived, stays: true},
	{name: "nobody", weight: 1, run: runNobody, stays: true},
	{name: "wrong-arguments", weight: 1, run: runWrongArguments, stays: true},
	{name: "compute", weight: 2, run: runCompute, stays: true},
}

// pairwise makes the ranks of a random pairing run f; first is true at one rank of each pair.
func pairwise(f func(s *step, peer int, first bool) error) func(*step) error {
	return func(s *step) error {
		order := s.rng.Perm(s.c.Size())
		at := slices.Index(order, s.c.Rank())
		if at^1 >= len(order) {
			return nil
		}
		return f(s, order[at^1], at&1 == 0)
	}
}

// got checks a message.
func (s *step) got(st comm.Status, in []uint64, from, size int) error {
	if st.Source != from || st.Count != size {
		return s.broken("%d numbers from %d, want %d from %d", st.Count, st.Source, size, from)
	}
	return took(s, in[:size], from, 0)
}

// pause sleeps for a time that differs from rank to rank.
func (s *step) pause() {
	if d := time.Duration(s.own.IntN(300)) * time.Microsecond; d > 50*time.Microsecond {
		time.Sleep(d)
	}
}

func runCompute(s *step) error {
	s.pause()
	return nil
}
