// Package node is the view that a process has of its node: the processes that share the node, the
// departed ones among them, and the means to sleep and to wake a process. Frames are sent over
// links (package transport): a process has one node, and a link for each class of peers.
//
// A process is named by its slot, its place in all tables of the job. A slot is used again when
// nobody refers to its process any more; the number of a process, its generation and its slot, is
// never used twice.
package node

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A Node is one process's view of its node. Its methods may be called from any goroutine.
type Node struct {
	me      int
	seg     *segment.Node
	sleeper park.Sleeper
	words   park.Sleeper // for words that are no doorbells of processes
	bell    *uint32
}

// New returns the view of process me.
func New(seg *segment.Node, sleeper park.Sleeper, me int) *Node {
	return &Node{me: me, seg: seg, sleeper: sleeper, words: park.Words(sleeper), bell: seg.Doorbell(me)}
}

// Me returns the number of this process.
func (n *Node) Me() int { return n.me }

// Procs returns how many processes there can be: their numbers are 0 to Procs()-1.
func (n *Node) Procs() int { return n.seg.Procs() }

// Started returns how many processes have been started so far, or are about to be: those with
// the numbers below.
func (n *Node) Started() int { return n.seg.Started() }

// Pid returns the kernel's number of a process, or 0 before the process has joined.
func (n *Node) Pid(proc int) int { return n.seg.Pid(proc) }

// SlotBits are the bits of a process's number that are its slot; the others are its generation.
const SlotBits = 16

// Slot returns the slot of the process with a number.
func Slot(number int) int { return number & (1<<SlotBits - 1) }

// Number returns the number of the process that is in a slot.
func (n *Node) Number(slot int) int { return int(n.seg.Generation(slot))<<SlotBits | slot }

// Generation returns how many processes had a slot before its present process.
func (n *Node) Generation(slot int) uint32 { return n.seg.Generation(slot) }

// A Departure is an entry in the list that the daemon of the node keeps.
type Departure struct {
	Proc int
	Died bool // false: the process ended after Finalize
	Lost bool // declared dead without exact evidence, and may run on
	Past bool // another process is in the slot now: nobody refers to the departed one any more
}

// Departures returns how many entries the list has had so far.
func (n *Node) Departures() int { return n.seg.Deaths() }

// HasDeparted reports whether the process of a slot is in the list, and how the process departed.
func (n *Node) HasDeparted(proc int) (d Departure, departed bool) {
	why, departed := n.seg.Departed(proc)
	return Departure{Proc: proc, Died: why != segment.Retired, Lost: why == segment.Lost}, departed
}

// LetGo records that this process no longer refers to a departed process. LetGo of its own slot
// covers all processes that had departed before this process came.
func (n *Node) LetGo(proc int) { n.seg.LetGo(n.me, proc) }

// Recall takes back LetGo: this process refers again to one that has departed.
func (n *Node) Recall(proc int) { n.seg.Recall(n.me, proc) }

// Epoch moves whenever a process died, left, or a communicator was revoked.
func (n *Node) Epoch() uint64 { return n.seg.Epoch() }

// MoveEpoch moves the epoch without waking anybody.
func (n *Node) MoveEpoch() { n.seg.MoveEpoch() }

// Departure returns the i-th entry of the list of departures, or false if there is none.
func (n *Node) Departure(i int) (Departure, bool) {
	if i >= n.seg.Deaths() {
		return Departure{}, false
	}
	proc, why, present := n.seg.Death(i)
	return Departure{Proc: proc, Died: why != segment.Retired, Lost: why == segment.Lost, Past: !present}, true
}

// HasLeft reports whether a process has returned from Finalize. For a process of another node the
// list of departures is the only source.
func (n *Node) HasLeft(proc int) bool {
	if n.seg.StateOf(proc) == segment.Left {
		return true
	}
	why, departed := n.seg.Departed(proc)
	return departed && why == segment.Retired
}

// SetLeft records that this process has returned from Finalize.
func (n *Node) SetLeft() { n.seg.SetState(n.me, segment.Left) }

// HasEnded reports whether all threads of a process have ended, their system calls included.
func (n *Node) HasEnded(proc int) bool { return n.seg.Ended(proc) }

// Doorbell returns the word on which a process sleeps.
func (n *Node) Doorbell(proc int) *uint32 { return n.seg.Doorbell(proc) }

// Ring wakes the owner of a doorbell if the owner sleeps for one of the park flags.
func (n *Node) Ring(bell *uint32, flags uint32) { park.Ring(bell, flags, n.sleeper) }

// Notify wakes a process that sleeps for one of the park flags.
func (n *Node) Notify(to int, flags uint32) { n.Ring(n.seg.Doorbell(to), flags) }

// NotifyAll wakes the processes in to that sleep for one of the park flags, all at once. It skips
// this process.
func (n *Node) NotifyAll(to []int, flags uint32) {
	round := n.seg.Round(n.sleeper)
	for _, proc := range to {
		if proc != n.me {
			round.Ring(n.seg.Doorbell(proc), flags)
		}
	}
	round.End()
}

// WakeAll makes every process of the node check everything once: a wake-up may be lost when its
// sender dies.
func (n *Node) WakeAll() { n.seg.WakeAll(n.sleeper) }

// Sleep sleeps for one of the park flags until a notification or the timeout (negative: never). It
// returns at once if ready() holds after the flag is up.
func (n *Node) Sleep(flag uint32, ready func() bool, timeout mono.Duration) {
	w := park.Raise(n.bell, flag)
	if !ready() {
		n.sleeper.Sleep(n.bell, w, timeout)
	}
	park.Lower(n.bell, flag)
}

// Yield lets another process or goroutine run.
func (n *Node) Yield() { n.sleeper.Yield() }
