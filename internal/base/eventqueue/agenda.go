// Package eventqueue is the event queue of a simulation in virtual time. Events run in the order of
// their times, and events of one time in the order in which they were planned.
package eventqueue

import (
	"cmp"
	"container/heap"
)

// An Agenda holds the planned events; the zero value is empty. T is a time.
type Agenda[T cmp.Ordered] struct {
	entries entries[T]
	planned int
}

// Plan adds the event do at a time.
func (a *Agenda[T]) Plan(at T, do func()) {
	a.planned++
	heap.Push(&a.entries, entry[T]{at, a.planned, do})
}

// Next returns the time of the next event; false: no event is planned.
func (a *Agenda[T]) Next() (at T, ok bool) {
	if len(a.entries) == 0 {
		return at, false
	}
	return a.entries[0].at, true
}

// Due reports whether an event is planned up to a time.
func (a *Agenda[T]) Due(until T) bool {
	at, ok := a.Next()
	return ok && at <= until
}

// Take removes the next event, and returns the event with its time. Take panics if no event is
// planned.
func (a *Agenda[T]) Take() (at T, do func()) {
	e := heap.Pop(&a.entries).(entry[T])
	return e.at, e.do
}

type entry[T cmp.Ordered] struct {
	at    T
	order int
	do    func()
}

type entries[T cmp.Ordered] []entry[T]

func (e entries[T]) Len() int { return len(e) }
func (e entries[T]) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(e[i].at, e[j].at), cmp.Compare(e[i].order, e[j].order)) < 0
}
func (e entries[T]) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries[T]) Push(x any)   { *e = append(*e, x.(entry[T])) }
func (e *entries[T]) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
