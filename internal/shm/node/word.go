package node

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// EpochWord is the word that Epoch reads, for those who read it at each of many short operations.
func (n *Node) EpochWord() *uint64 { return n.seg.EpochWord() }

// SleepOn is Sleep on another word than the process's doorbell: on one that goroutines of one
// process share, who are all woken by one RingOn.
func (n *Node) SleepOn(word *uint32, flag uint32, ready func() bool, timeout mono.Duration) {
	w := park.Raise(word, flag)
	if !ready() {
		n.words.Sleep(word, w, timeout)
	}
}

// RingOn wakes those who sleep on such a word for one of the park flags.
func (n *Node) RingOn(word *uint32, flags uint32) { park.Ring(word, flags, n.words) }
