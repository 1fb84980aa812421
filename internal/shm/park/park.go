// Package park is how a rank waits when it has nothing to do: a PAUSE between
// two polls, and sleeping on a doorbell word until somebody rings it.
//
// A doorbell is one 32-bit word that everybody may change by one atomic
// instruction: its owner raises a flag that says "I am about to sleep and want
// to be woken for this", a ringer takes the flags away and counts up, then wakes.
// Because the owner sleeps on the value that it saw with its own flag in it, a
// ring between its last poll and its sleep is never missed:
//
//	owner: raise CALLER (word = w)      ringer: publish a frame
//	owner: look for frames: none        ringer: sees CALLER: word = w+1, no flag
//	owner: sleep while word == w   ->   returns at once
//
// A ringer that dies between the change and the wake leaves a sleeper behind;
// the wake-all that follows every declared death repairs that.
package park

import (
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// What a sleeper wants to be woken for; flags in the doorbell word.
const (
	// Caller is the flag of a call that sleeps: everything wakes it.
	Caller uint32 = 1
	// Background is the flag of the background loop: control frames, rendezvous
	// requests and blocked senders wake it, eager data does not.
	Background uint32 = 2
	flags             = Caller | Background
	count             = 4
)

// A Sleeper puts the calling goroutine to sleep on a doorbell word, and wakes
// whoever sleeps there. Each home of a ring has one: a futex between processes,
// channels between goroutines.
type Sleeper interface {
	// Sleep returns once *word differs from old, or somebody wakes, or after
	// timeout (negative: never). It may return for no reason at all.
	Sleep(word *uint32, old uint32, timeout mono.Duration)
	// Wake wakes everybody who sleeps on word.
	Wake(word *uint32)
	// Move has everybody who sleeps on word sleep on to instead, and wakes nobody.
	Move(word, to *uint32)
	// Yield lets another rank have this one's time slice, if one wants it.
	Yield()
}

// Words returns the Sleeper for words that are no doorbells of processes, where s is the one for
// those: s itself, unless it knows doorbells only.
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

// Ring wakes the owner of word if it sleeps for one of the flags in want, and
// says whether it did. It costs one load where nobody sleeps.
func Ring(word *uint32, want uint32, s Sleeper) bool {
	if !lower(word, want) {
		return false
	}
	wake(s, word)
	return true
}

// lower takes the flags away and counts up, if one in want is raised.
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
