package main

import (
	"sync"
	"time"
)

const (
	// lateStep is how long a lateness sleeps at a time.
	lateStep = 10 * time.Millisecond
	// lateLeast is from where on lateness is kept.
	lateLeast = 2 * time.Millisecond
)

// A lateness sleeps and looks by how much it comes too late: so does all else in its process.
type lateness struct {
	over chan struct{}
	mu   sync.Mutex
	late []late
}

type late struct{ from, to time.Time } // when it should have woken, and when it did

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

// worst returns the most by which this process was late at some moment between two. Times of other
// processes have no monotonic clock, so it is the machine's wall clock that counts.
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
