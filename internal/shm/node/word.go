package node

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// EpochWord is the word that Epoch reads, for callers that read the epoch in each of many short
// operations.
func (n *Node) EpochWord() *uint64 { return n.seg.EpochWord() }

// SleepOn is Sleep on a word other than the process's doorbell. Goroutines of one process share
// such a word, and one RingOn wakes all of them.
func (n *Node) SleepOn(word *uint32, flag uint32, ready func() bool, timeout mono.Duration) {
	w := park.Raise(word, flag)
	if !ready() {
		n.words.Sleep(word, w, timeout)
	}
}

// RingOn wakes the goroutines that sleep on such a word for one of the park flags.
func (n *Node) RingOn(word *uint32, flags uint32) { park.Ring(word, flags, n.words) }
