package park

import (
	"slices"
	"sync"
	"time"
)

// Patience decides how long a rank waits before its first poll of a line that another rank is about
// to write. A poll that is too early is worse than a late one:
//
//	reader: polls, gets the line            reader: waits
//	writer: must get it back, writes        writer: writes, the line is its own
//	reader: gets it once more               reader: polls, gets the line
//
// On the left the line changes sides twice after the answer was ready, on the right once. The first
// polls show how long an answer takes: after an early poll the rank is more patient, after several
// polls in time less patient. To wait costs nothing where the answer takes longer; in this case
// Patience learns nothing.
type Patience struct {
	// Max bounds the pauses. Patience gains one change of sides, so a rank should wait for no
	// longer than a change of sides takes. Where both sides wait for each other, the patience of
	// one side delays the answer to the other side.
	Max    uint8
	pauses uint8
	found  uint8 // first polls in a row that were in time
}

const (
	// After this number of first polls in time Patience tries one pause less.
	patienceTrial = 4
	// An answer that took more polls than this was not about to be written at the first poll.
	patienceNear = 16
	// About the time of a change of sides where processors share no cache.
	patienceMax = 150 * time.Nanosecond
)

// Pauses returns how many pauses to wait before the first poll.
func (q *Patience) Pauses() uint32 { return uint32(q.pauses) }

// Found notes that the first poll was in time.
func (q *Patience) Found() {
	if q.found++; q.found >= patienceTrial {
		q.found = 0
		q.pauses -= min(q.pauses, 1)
	}
}

// Missed notes that the answer came only after the given number of further polls.
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
