// Package park lets a rank wait when it has nothing to do: by a PAUSE between two polls, and by a
// sleep on a doorbell word until somebody rings.
//
// A doorbell is one 32-bit word that everybody may change by one atomic instruction. Before its
// owner sleeps, the owner raises a flag that names the events which should wake it. A ringer takes
// the flags away and counts up, then wakes. The owner sleeps on the value that it saw with its own
// flag in it. So a ring between its last poll and its sleep is never missed:
//
//	owner: raise CALLER (word = w)      ringer: publish a frame
//	owner: poll for frames: none        ringer: sees CALLER: word = w+1, no flag
//	owner: sleep while word == w   ->   returns at once
//
// A ringer that dies between the change and the wake leaves a sleeper behind; the wake-all that
// follows every declared death repairs that.
package park

import (
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// The events that wake a sleeper; flags in the doorbell word.
const (
	// Caller is the flag of a call that sleeps: every event wakes the call.
	Caller uint32 = 1
	// Background is the flag of the background loop: control frames, rendezvous requests and
	// blocked senders wake the loop, eager data does not.
	Background uint32 = 2
	flags             = Caller | Background
	count             = 4
)

// A Sleeper puts the calling goroutine to sleep on a doorbell word, and wakes all that sleep on a
// word. Each home of a ring has one: a futex between processes, channels between goroutines.
type Sleeper interface {
	// Sleep returns once *word differs from old, or somebody wakes, or after timeout (negative:
	// never). It may return without a reason.
	Sleep(word *uint32, old uint32, timeout mono.Duration)
	// Wake wakes all sleepers on word.
	Wake(word *uint32)
	// Move makes all sleepers on word sleep on to instead, and wakes nobody.
	Move(word, to *uint32)
	// Yield gives this rank's time slice to another rank, if one is ready to run.
	Yield()
}

// Words returns the Sleeper for words other than the doorbells of processes, where s is the Sleeper
// for doorbells: s itself, unless s supports doorbells only.
func Words(s Sleeper) Sleeper {
	if s, ok := s.(interface{ words() Sleeper }); ok {
		return s.words()
	}
	return s
}

// Raise puts flag into the word and returns the value to sleep on.
func Raise(word *uint32, flag uint32) uint32 {
	if failpoint.Counting {
		failpoint.Here()
	}
	return atomic.OrUint32(word, flag) | flag
}

// Lower takes flag away: the owner is awake again.
func Lower(word *uint32, flag uint32) {
	if atomic.LoadUint32(word)&flag != 0 {
		if failpoint.Counting {
			failpoint.Here()
		}
		atomic.AndUint32(word, ^flag)
	}
}

// Ring wakes the owner of word if the owner sleeps for one of the flags in want, and reports
// whether it did. Ring costs one load where nobody sleeps.
func Ring(word *uint32, want uint32, s Sleeper) bool {
	if !lower(word, want) {
		return false
	}
	wake(s, word)
	return true
}

// lower takes all flags away and counts up, if one of the flags in want is raised.
func lower(word *uint32, want uint32) bool {
	for {
		w := atomic.LoadUint32(word)
		if w&want == 0 {
			return false
		}
		if failpoint.Counting {
			failpoint.Here()
		}
		if atomic.CompareAndSwapUint32(word, w, w&^flags+count) {
			return true
		}
	}
}

func wake(s Sleeper, word *uint32) {
	if failpoint.Counting {
		failpoint.Here()
	}
	s.Wake(word)
}
