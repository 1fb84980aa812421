package cluster

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// eventKind is the kind of an event.
type eventKind uint8

const (
	wake    eventKind = iota // the program of proc runs
	arrival                  // control frame of other reaches proc
	message                  // message of other reaches proc, or its announcement
	piece                    // chunk of a long message of other reaches proc
	notice                   // proc is notified that other has ended
	goodbye                  // proc is notified that other has left
	timer                    // the deadline of proc's rules has come
	resume                   // proc continues after a pause
	pulse                    // slow proc stops again
	look                     // proc inspects the memory of a communicator
)

func (k eventKind) String() string {
	return [...]string{"wake", "arrival", "message", "piece", "notice", "goodbye", "timer", "resume", "pulse", "look"}[k]
}

// event is a future event of a process.
type event struct {
	at    mono.Time
	kind  eventKind
	proc  int
	other int
	frame []byte
	data  *parcel // of a message
	chunk *chunk  // of a piece
	again *Fault  // of a pulse
	comm  uint32  // of an inspection
}

// lane returns the lane of a frame.
func (e *event) lane() lane {
	if e.kind == message || e.kind == piece {
		return dataLane
	}
	return controlLane
}

// addTo adds the event to the hash of a trace.
func (e *event) addTo(h *world.Hash) {
	h.Add(uint64(e.at))
	h.Add(uint64(e.kind)<<32 | uint64(e.proc)<<16 | uint64(e.other))
	if e.kind == look {
		h.Add(uint64(e.comm))
	}
	h.AddBytes(e.frame)
}

// entry is the place of an event in the order of the queue. An entry has no pointers: a heap of
// whole events would keep the garbage collector busy.
type entry struct {
	at    mono.Time
	order uint64 // of creation: ties go by it
	slot  int
}

func (e *entry) before(f *entry) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// queue is a binary heap of events.
type queue struct {
	heap  []entry
	slots []event
	free  []int // slots that hold no event
	order uint64
}

func (q *queue) push(e event) {
	q.order++
	q.heap = append(q.heap, entry{at: e.at, order: q.order, slot: q.store(e)})
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.heap[i].before(&q.heap[up]) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *queue) store(e event) int {
	if last := len(q.free) - 1; last >= 0 {
		slot := q.free[last]
		q.free = q.free[:last]
		q.slots[slot] = e
		return slot
	}
	q.slots = append(q.slots, e)
	return len(q.slots) - 1
}

// pop returns the earliest event and whether there was one.
func (q *queue) pop() (event, bool) {
	if len(q.heap) == 0 {
		return event{}, false
	}
	slot := q.heap[0].slot
	top := q.slots[slot]
	q.slots[slot] = event{}
	q.free = append(q.free, slot)
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.sink()
	return top, true
}

func (q *queue) sink() {
	for i := 0; ; {
		least := i
		for _, down := range [2]int{2*i + 1, 2*i + 2} {
			if down < len(q.heap) && q.heap[down].before(&q.heap[least]) {
				least = down
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
