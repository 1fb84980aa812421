package main

import (
	"sync"
	"time"
)

const (
	// lateStep is the time of each sleep.
	lateStep = 10 * time.Millisecond
	// lateLeast is the least delay that is recorded.
	lateLeast = 2 * time.Millisecond
)

// A lateness sleeps repeatedly, and records how much later it wakes. Everything else in its process
// has the same delays.
type lateness struct {
	over chan struct{}
	mu   sync.Mutex
	late []late
}

type late struct{ from, to time.Time } // the planned and the real time of waking

func startLateness() *lateness {
	l := &lateness{over: make(chan struct{})}
	go l.look()
	return l
}

func (l *lateness) look() {
	for {
		due := time.Now().Add(lateStep)
		select {
		case <-time.After(lateStep):
			l.note(due, time.Now())
		case <-l.over:
			return
		}
	}
}

func (l *lateness) stop() { close(l.over) }

func (l *lateness) note(due, now time.Time) {
	if now.Sub(due) < lateLeast {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = append(l.late, late{due, now})
}

// worst returns the largest delay of this process between two times. Times of other processes have
// no monotonic clock, so all are of the wall clock of the machine.
func (l *lateness) worst(from, to time.Time) (most time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.late) - 1; i >= 0 && !l.late[i].to.Before(from); i-- {
		if !l.late[i].from.After(to) {
			most = max(most, l.late[i].to.Sub(l.late[i].from))
		}
	}
	return most
}
