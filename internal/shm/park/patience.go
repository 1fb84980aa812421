package park

import (
	"slices"
	"sync"
	"time"
)

// Patience says how long a rank waits before it looks for the first time at a line that
// another one is about to write. To look too early is worse than to look late:
//
//	reader: looks, gets the line            reader: waits
//	writer: must get it back, writes        writer: writes, the line is its own
//	reader: gets it once more               reader: looks, gets the line
//
// On the left the line changes sides twice after the answer was ready, on the right once.
// How long an answer takes is learnt from the first polls: who looked too early is more
// patient next time, who was in time several times is less so. To wait costs nothing
// where the answer takes longer; nothing is learnt then.
type Patience struct {
	// Max bounds the pauses. What is gained is one change of sides, so longer than that
	// takes nobody should wait; and where both sides wait for each other each one's
	// patience is an answer that takes longer to the other.
	Max    uint8
	pauses uint8
	found  uint8 // first polls in a row that were in time
}

const (
	// After so many first polls in time one pause less is tried.
	patienceTrial = 4
	// What came after more looks than this was not about to be written at the first one.
	patienceNear = 16
	// A change of sides where processors share no cache takes about so long.
	patienceMax = 150 * time.Nanosecond
)

// Pauses is for how many pauses to wait before the first poll.
func (q *Patience) Pauses() uint32 { return uint32(q.pauses) }

// Found notes that the first poll was in time.
func (q *Patience) Found() {
	if q.found++; q.found >= patienceTrial {
		q.found = 0
		q.pauses -= min(q.pauses, 1)
	}
}

// Missed notes that there was something only after so many further looks.
func (q *Patience) Missed(looks int) {
	q.found = 0
	if looks <= patienceNear {
		q.pauses = min(q.pauses+1, q.Max)
	}
}

// PatienceMax is a bound for Patience on this machine: the pauses of one change of sides.
var PatienceMax = sync.OnceValue(func() uint8 {
	const pauses, rounds = 32, 5
	var took [rounds]time.Duration
	for i := range took {
		start := time.Now()
		Pause(pauses)
		took[i] = time.Since(start)
	}
	best := max(slices.Min(took[:]), 1) // the others were interrupted
	return uint8(min(pauses*patienceMax/best, 64))
})
