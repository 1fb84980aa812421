// Package node is what a process sees of the node that it runs on: which other processes share
// it, who of them has departed, and how a process sleeps and is woken. Frames go over links
// (package transport): a process has one node, and a link for each class of peers.
//
// A process is named by its slot, its place in all tables of the job. A slot is used again when
// nobody refers to its process any more; the number of a process, its generation and its slot,
// is never used twice.
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

// Pid returns the number by which the kernel knows a process, or 0 before it has joined.
func (n *Node) Pid(proc int) int { return n.seg.Pid(proc) }

// SlotBits are the bits of a process's number that are its slot; the others are its generation.
const SlotBits = 16

// Slot returns the slot of the process with a number.
func Slot(number int) int { return number & (1<<SlotBits - 1) }

// Number returns the number of the process that is in a slot.
func (n *Node) Number(slot int) int { return int(n.seg.Generation(slot))<<SlotBits | slot }

// Generation returns how many processes had a slot before the one that has it now.
func (n *Node) Generation(slot int) uint32 { return n.seg.Generation(slot) }

// A Departure is an entry in the list that the daemon of the node keeps.
type Departure struct {
	Proc int
	Died bool // false: it ended after Finalize
	Lost bool // it was declared dead without exact evidence, and may run on
	Past bool // another process is in the slot now: nobody has referred to this one any more
}

// Departures returns how many entries the list has had so far.
func (n *Node) Departures() int { return n.seg.Deaths() }

// HasDeparted says whether the process of a slot is in the list, and how it departed.
func (n *Node) HasDeparted(proc int) (d Departure, departed bool) {
	why, departed := n.seg.Departed(proc)
	return Departure{Proc: proc, Died: why != segment.Retired, Lost: why == segment.Lost}, departed
}

// LetGo says that this process refers no more to one that has departed. Of its own slot it says
// that it has let go of all that had departed before it came.
func (n *Node) LetGo(proc int) { n.seg.LetGo(n.me, proc) }

// Recall takes back LetGo: this process refers again to one that has departed.
func (n *Node) Recall(proc int) { n.seg.Recall(n.me, proc) }

// Epoch moves whenever a process died, left, or a communicator was revoked.
func (n *Node) Epoch() uint64 { return n.seg.Epoch() }

// MoveEpoch moves it and wakes nobody.
func (n *Node) MoveEpoch() { n.seg.MoveEpoch() }

// Departure returns the i-th entry of the list of departures, if it exists.
func (n *Node) Departure(i int) (Departure, bool) {
	if i >= n.seg.Deaths() {
		return Departure{}, false
	}
	proc, why, present := n.seg.Death(i)
	return Departure{Proc: proc, Died: why != segment.Retired, Lost: why == segment.Lost, Past: !present}, true
}

// HasLeft says whether a process has returned from Finalize. One of another node says so only by
// its departure.
func (n *Node) HasLeft(proc int) bool {
	if n.seg.StateOf(proc) == segment.Left {
		return true
	}
	why, departed := n.seg.Departed(proc)
	return departed && why == segment.Retired
}

// SetLeft says it of this process.
func (n *Node) SetLeft() { n.seg.SetState(n.me, segment.Left) }

// HasEnded says whether no thread of a process is left: its system calls, too, are over.
func (n *Node) HasEnded(proc int) bool { return n.seg.Ended(proc) }

// Doorbell returns the word on which a process sleeps.
func (n *Node) Doorbell(proc int) *uint32 { return n.seg.Doorbell(proc) }

// Ring wakes the owner of a doorbell if it sleeps for one of the park flags.
func (n *Node) Ring(bell *uint32, flags uint32) { park.Ring(bell, flags, n.sleeper) }

// Notify wakes a process if it sleeps for one of the park flags.
func (n *Node) Notify(to int, flags uint32) { n.Ring(n.seg.Doorbell(to), flags) }

// NotifyAll wakes those of many processes, beside this one, that sleep for one of the park
// flags, at once.
func (n *Node) NotifyAll(to []int, flags uint32) {
	round := n.seg.Round(n.sleeper)
	for _, proc := range to {
		if proc != n.me {
			round.Ring(n.seg.Doorbell(proc), flags)
		}
	}
	round.End()
}

// WakeAll makes every process of the node look at everything once: a wake-up may be lost with its
// sender.
func (n *Node) WakeAll() { n.seg.WakeAll(n.sleeper) }

// Sleep sleeps for one of the park flags until somebody notifies or the timeout is over
// (negative: never), unless ready() holds after the flag is up.
func (n *Node) Sleep(flag uint32, ready func() bool, timeout mono.Duration) {
	w := park.Raise(n.bell, flag)
	if !ready() {
		n.sleeper.Sleep(n.bell, w, timeout)
	}
	park.Lower(n.bell, flag)
}

// Yield lets another process or goroutine run.
func (n *Node) Yield() { n.sleeper.Yield() }
