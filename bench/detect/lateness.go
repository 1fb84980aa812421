package main

import (
	"sync/atomic"
	"time"
)

// lateStep is how long a lateness sleeps at a time.
const lateStep = 5 * time.Millisecond

// A lateness sleeps and measures how late its wake-ups are: the daemons of this machine are as
// late.
type lateness struct {
	worst atomic.Int64
	over  chan struct{}
	ended chan struct{}
}

func startLateness() *lateness {
	l := &lateness{over: make(chan struct{}), ended: make(chan struct{})}
	go l.look()
	return l
}

func (l *lateness) look() {
	defer close(l.ended)
	for {
		begin := time.Now()
		select {
		case <-time.After(lateStep):
		case <-l.over:
			return
		}
		l.note(time.Since(begin) - lateStep)
	}
}

// note keeps the largest lateness.
func (l *lateness) note(late time.Duration) {
	for old := l.worst.Load(); int64(late) > old && !l.worst.CompareAndSwap(old, int64(late)); old = l.worst.Load() {
	}
}

// stop ends the measurement and returns the largest lateness, in ms.
func (l *lateness) stop() float64 {
	close(l.over)
	<-l.ended
	return millis(time.Duration(l.worst.Load()))
}
