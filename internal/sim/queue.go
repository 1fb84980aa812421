package sim

import "github.com/goulfm/goulfm/internal/mono"

// eventKind says what happens.
type eventKind uint8

const (
	wake    eventKind = iota // the program of proc goes on
	arrival                  // frame of other reaches proc
	notice                   // proc hears that other has ended
	goodbye                  // proc hears that other has left
	timer                    // the deadline of proc's rules has come
)

func (k eventKind) String() string {
	return [...]string{"wake", "arrival", "notice", "goodbye", "timer"}[k]
}

// event is something that will happen to a process.
type event struct {
	at    mono.Time
	order uint64 // of creation: ties go by it
	kind  eventKind
	proc  int
	other int
	frame []byte
}

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// queue is a binary heap of events.
type queue struct {
	heap  []event
	order uint64
}

func (q *queue) push(e event) {
	q.order++
	e.order = q.order
	q.heap = append(q.heap, e)
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.heap[i].before(&q.heap[up]) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

// pop returns the earliest event and whether there was one.
func (q *queue) pop() (event, bool) {
	if len(q.heap) == 0 {
		return event{}, false
	}
	top := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0], q.heap[last] = q.heap[last], event{}
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
