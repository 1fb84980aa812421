package main

import (
	"container/heap"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// An agenda is a clock of virtual time and the planned events, in the order of their moments.
// Events of the same moment happen in the order in which they were planned.
type agenda struct {
	now    mono.Time
	seq    int // of the last planned event
	events eventHeap
}

// plan lets something happen at a moment that has not passed.
func (a *agenda) plan(at mono.Time, do func()) {
	a.seq++
	heap.Push(&a.events, event{at, a.seq, do})
}

// run lets happen all that is to happen until then.
func (a *agenda) run(until mono.Time) {
	for len(a.events) > 0 && a.events[0].at <= until {
		a.next()
	}
	a.now = max(a.now, until)
}

// drain runs all planned events, and the events that follow from them.
func (a *agenda) drain() {
	for len(a.events) > 0 {
		a.next()
	}
}

func (a *agenda) next() {
	ev := heap.Pop(&a.events).(event)
	a.now = ev.at
	ev.do()
}

type event struct {
	at  mono.Time
	seq int
	do  func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
