package segment

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/shm/park"
)

const magic = 0x31_6d66_6c75_6f67 // "goulfm1" as bytes

// Offsets in segment 0.
const (
	offMagic      = 0
	offBuild      = 8
	offProcs      = 12
	offJob        = 16
	offArenaBytes = 24
	offStarted    = 32
	offLease      = 40
	offEpoch      = 1 * Line
	offServed     = 1*Line + 8
	offDeaths     = 2 * Line
	offAssembly   = 3 * Line
	offLog        = 4 * Line
	procLines     = 4 // tombstone, state, doorbell, beats
)

// State is how far a process has come. The process writes its own state.
type State uint32

// The states of a process, in order.
const (
	Absent State = iota // has not called Init
	Joined              // has called Init
	Left                // has returned from Finalize: departed, not dead
)

// Bits of a tombstone word, which the kernel defines: the rest is the thread that owns the word.
const (
	TombstoneWaiters uint32 = 0x80000000 // set by the owner: the kernel wakes a waiter when the owner ends
	TombstoneDied    uint32 = 0x40000000 // set by the kernel: the owner has ended
)

// The reasons of an entry in the list of deaths.
const (
	Died    uint32 = iota // killed, exited without Finalize, crashed
	Retired               // exited after Finalize
	Lost                  // declared without exact evidence: the process may run on, and send
)

// Node is segment 0 of a node. Its tables have a slot for each of procs processes at a time. A
// process is in a slot until all others have let go of the process; then the slot may get another
// process, of the next generation.
//
//	| offset            | content                                         | writer              |
//	| 0                 | magic, build, slots, job, slots used, lease     | daemon              |
//	| offEpoch          | epoch; windows are served on this node          | all                 |
//	| offDeaths, offLog | number of entries; a ring of the last ones      | daemon              |
//	| offAssembly       | word to which a round moves many sleepers       | none                |
//	| line 0 of a slot  | tombstone; ended, generation, departed; mourned | kernel; daemon; all |
//	| line 1            | state, pid, halting                             | the process         |
//	| line 2            | doorbell                                        | all                 |
//	| line 3            | beats, serving                                  | the process         |
//	| row of a slot     | generation of each slot that it has let go of   | the process         |
//
// In Vacate the daemon clears the words of the process. In a world of goroutines package inproc
// writes the daemon's words.
type Node struct {
	m      Memory
	procs  int
	bells  []uint32 // from the first process's doorbell on, bellsApart from each other
	log    []uint64
	epoch  *uint64
	deaths *uint64
}

// NodeBytes returns the size of segment 0 with room for the given number of processes.
func NodeBytes(procs int) int {
	return rowsAt(procs) + procs*rowBytes(procs)
}

func rowsAt(procs int) int { return offLog + roundUp(8*procs, Line) + procs*procLines*Line }

func rowBytes(procs int) int { return roundUp(4*procs, Line) }

// FormatNode writes the header of an all-zero segment 0.
func FormatNode(m Memory, procs int, job uint64) *Node {
	*m.word32(offProcs) = uint32(procs)
	*m.word64(offJob) = job
	*m.word64(offArenaBytes) = uint64(ArenaBytes(procs))
	*m.word64(offStarted) = uint64(procs)
	*m.word32(offBuild) = buildid.Build
	*m.word64(offMagic) = magic
	n, err := OpenNode(m, job)
	if err != nil {
		panic(err) // the header was written just above
	}
	return n
}

// OpenNode checks the header of segment 0 and returns the Node.
func OpenNode(m Memory, job uint64) (*Node, error) {
	if m.Size() < offLog || *m.word64(offMagic) != magic {
		return nil, fmt.Errorf("shared memory of another kind: not made by goulfm run")
	}
	if *m.word32(offBuild) != buildid.Build {
		return nil, buildid.Another("the shared memory of this node")
	}
	if got := *m.word64(offJob); got != job {
		return nil, fmt.Errorf("shared memory of job %x, this process belongs to job %x", got, job)
	}
	procs := int(*m.word32(offProcs))
	if m.Size() < NodeBytes(procs) {
		return nil, fmt.Errorf("shared memory of %d bytes is too small for %d processes", m.Size(), procs)
	}
	n := &Node{m: m, procs: procs, log: m.words64(offLog, procs), epoch: m.word64(offEpoch), deaths: m.word64(offDeaths)}
	n.bells = m.words32(n.line(0, 2), (procs-1)*bellsApart+1)
	return n, nil
}

// Procs returns the number of slots.
func (n *Node) Procs() int { return n.procs }

// Started returns how many slots have been used so far: the slots with the numbers below.
func (n *Node) Started() int { return int(min(Load64(n.m.word64(offStarted)), uint64(n.procs))) }

// SetStarted is called by the daemon alone, before new processes start.
func (n *Node) SetStarted(procs int) { Store64(n.m.word64(offStarted), uint64(procs)) }

// Lease returns until when the processes of the node may run, by CLOCK_BOOTTIME in ns; 0: for ever.
// Only a job on several nodes has another value. The lease ends before other nodes take this node
// for dead (package roster).
func (n *Node) Lease() int64 { return int64(Load64(n.m.word64(offLease))) }

// SetLease is called by the daemon alone.
func (n *Node) SetLease(ns int64) { Store64(n.m.word64(offLease), uint64(ns)) }

// EpochWord is the one word that every declared death, every departure and every revocation moves.
// Waiters poll this word, and read the details when it has moved.
func (n *Node) EpochWord() *uint64 { return n.epoch }

// Epoch returns the current epoch.
func (n *Node) Epoch() uint64 { return atomic.LoadUint64(n.epoch) }

// MoveEpoch makes every waiter check everything once.
func (n *Node) MoveEpoch() { Add64(n.epoch, 1) }

// Deaths returns how many entries the list of deaths has had so far.
func (n *Node) Deaths() int { return int(atomic.LoadUint64(n.deaths)) }

// Death returns entry i of the list of deaths, i < Deaths(): the slot of the process, the reason,
// and whether the entry is of the present process of the slot. The list keeps as many entries as
// there are slots. No process needs an older entry: a slot gets another entry only after it was
// used again, and for that every process has let go of the previous one.
func (n *Node) Death(i int) (proc int, why uint32, present bool) {
	e := atomic.LoadUint64(&n.log[i%n.procs])
	proc = int(e & 0xffff)
	return proc, uint32(e >> 16 & 0xffff), proc < n.procs && uint32(e>>32) == n.Generation(proc)
}

// AppendDeath adds proc to the list. Only the daemon calls AppendDeath (one writer), once for each
// process. The caller then moves the epoch and wakes everybody.
func (n *Node) AppendDeath(proc int, why uint32) {
	if pausepoint.Enabled {
		pausepoint.At("segment.death")
	}
	Store32(n.departed(proc), why+1)
	k := atomic.LoadUint64(n.deaths)
	Store64(&n.log[k%uint64(n.procs)], uint64(n.Generation(proc))<<32|uint64(why)<<16|uint64(proc))
	Store64(n.deaths, k+1)
}

func (n *Node) departed(proc int) *uint32 { return n.m.word32(n.line(proc, 0) + 12) }

// Departed reports whether the process of a slot is in the list of deaths, and why. The mark is
// stored before the entry: a process that reads the length of the list first misses nobody.
func (n *Node) Departed(proc int) (why uint32, departed bool) {
	v := Load32(n.departed(proc))
	return v - 1, v != 0
}

// Generation returns how many processes had a slot before its present process.
func (n *Node) Generation(proc int) uint32 { return Load32(n.generation(proc)) }

// SetGeneration gives a slot to a later generation, in memory that nobody has read yet.
func (n *Node) SetGeneration(proc int, g uint32) { Store32(n.generation(proc), g) }

func (n *Node) generation(proc int) *uint32 { return n.m.word32(n.line(proc, 0) + 8) }

// letGo is the word in which the process in slot by records the generation of slot proc that it has
// let go of, plus 1.
func (n *Node) letGo(by, proc int) *uint32 {
	return n.m.word32(rowsAt(n.procs) + by*rowBytes(n.procs) + 4*proc)
}

// LetGo records that the process in slot by no longer refers to the present process of slot proc,
// which has departed. Only the process itself calls LetGo. LetGo of its own slot records the same
// for all processes that had departed before this process came: see HasLetGo.
func (n *Node) LetGo(by, proc int) { Store32(n.letGo(by, proc), n.Generation(proc)+1) }

// Recall takes back LetGo: the process in slot by refers again to the process of slot proc. Only
// the process itself calls Recall, while something else keeps the slot from being given away.
func (n *Node) Recall(by, proc int) { Store32(n.letGo(by, proc), 0) }

// HasLetGo reports whether the process in slot by no longer refers to the process in slot proc. A
// process that has not yet let go of its own slot may refer to all.
func (n *Node) HasLetGo(by, proc int) bool {
	came := Load32(n.letGo(by, by)) == n.Generation(by)+1
	return came && Load32(n.letGo(by, proc)) == n.Generation(proc)+1
}

// Vacate makes a slot free for the next generation. Only the daemon calls Vacate, when the process
// has been reaped and all others have let go of the process.
func (n *Node) Vacate(proc int) {
	Store32(n.departed(proc), 0)
	Store32(n.m.word32(n.line(proc, 0)+4), 0)
	Store32(n.Tombstone(proc), 0)
	n.SetState(proc, Absent)
	n.SetPid(proc, 0)
	n.SetHalting(proc, false)
	n.Beat(proc, 0)
	n.SetServing(proc, -1)
	for slot := range n.procs {
		Store32(n.letGo(proc, slot), 0)
	}
	Store32(n.Doorbell(proc), 0)
	Store32(n.generation(proc), n.Generation(proc)+1)
}

func (n *Node) line(proc, line int) int {
	return offLog + roundUp(8*n.procs, Line) + (proc*procLines+line)*Line
}

// Tombstone is the word that the kernel marks when proc's process ends.
func (n *Node) Tombstone(proc int) *uint32 { return n.m.word32(n.line(proc, 0)) }

// Ended reports whether no thread of proc's process is left, even in the kernel: the process was
// reaped. The kernel marks the tombstone earlier, when the first thread of the process has ended.
func (n *Node) Ended(proc int) bool { return Load32(n.m.word32(n.line(proc, 0)+4)) != 0 }

// SetEnded is called by the daemon alone, when the process of proc was reaped.
func (n *Node) SetEnded(proc int) { Store32(n.m.word32(n.line(proc, 0)+4), 1) }

// StateOf returns how far proc has come.
func (n *Node) StateOf(proc int) State { return State(Load32(n.m.word32(n.line(proc, 1)))) }

// SetState is called by proc alone, and by Vacate.
func (n *Node) SetState(proc int, s State) { Store32(n.m.word32(n.line(proc, 1)), uint32(s)) }

// Pid returns the process id that proc wrote when it joined, or 0.
func (n *Node) Pid(proc int) int { return int(Load32(n.m.word32(n.line(proc, 1) + 4))) }

// SetPid is called by proc alone, and by Vacate.
func (n *Node) SetPid(proc, pid int) { Store32(n.m.word32(n.line(proc, 1)+4), uint32(pid)) }

// Halting reports whether proc stops itself because its lease was over.
func (n *Node) Halting(proc int) bool { return Load32(n.m.word32(n.line(proc, 1)+8)) != 0 }

// SetHalting is called by proc alone, and by Vacate.
func (n *Node) SetHalting(proc int, so bool) {
	var word uint32
	if so {
		word = 1
	}
	Store32(n.m.word32(n.line(proc, 1)+8), word)
}

// Beats returns a count that changes whenever proc shows a sign of life; 0: proc sends no beats.
func (n *Node) Beats(proc int) uint32 { return Load32(n.m.word32(n.line(proc, 3))) }

// Beat is called by proc alone, never with 0; and by Vacate.
func (n *Node) Beat(proc int, count uint32) { Store32(n.m.word32(n.line(proc, 3)), count) }

// Mourn records that a process of this node knows of the death of proc's present process. Every
// process of the node may call Mourn: all store the same value, which the next generation of the
// slot makes stale.
func (n *Node) Mourn(proc int) { Store32(n.mourned(proc), n.Generation(proc)+1) }

// IsMourned reports whether any process of this node knows, by whatever evidence, that proc's
// present process is dead.
func (n *Node) IsMourned(proc int) bool { return Load32(n.mourned(proc)) == n.Generation(proc)+1 }

func (n *Node) mourned(proc int) *uint32 { return n.m.word32(n.line(proc, 0) + 16) }

// SetServing is called by proc alone, and by Vacate. It records that proc executes a request of the
// process in slot origin; -1: no request. SetServing is a full fence: no later load happens before
// others see its store.
func (n *Node) SetServing(proc, origin int) { Store32(n.serving(proc), uint32(origin+1)) }

// IsServing reports whether proc executes a request of the process in slot origin.
func (n *Node) IsServing(proc, origin int) bool { return Load32(n.serving(proc)) == uint32(origin+1) }

func (n *Node) serving(proc int) *uint32 { return n.m.word32(n.line(proc, 3) + 4) }

// SetServed records that a process of this node serves windows of other processes. The server calls
// SetServed before its first frame.
func (n *Node) SetServed() { Store32(n.m.word32(offServed), 1) }

// IsServed reports whether any process of this node has ever served windows of others.
func (n *Node) IsServed() bool { return Load32(n.m.word32(offServed)) != 0 }

// Doorbell is the word on which proc sleeps.
func (n *Node) Doorbell(proc int) *uint32 { return &n.bells[proc*bellsApart] }

// BellOf returns the process of a doorbell word, or -1.
func (n *Node) BellOf(word *uint32) int {
	at := (uintptr(unsafe.Pointer(word)) - uintptr(unsafe.Pointer(&n.bells[0]))) / 4
	if at%bellsApart != 0 || at/bellsApart >= uintptr(n.procs) {
		return -1
	}
	return int(at / bellsApart)
}

const bellsApart = procLines * Line / 4

// Round returns a round that has rung no doorbell yet.
func (n *Node) Round(s park.Sleeper) park.Round {
	return park.Round{Sleeper: s, Assembly: n.m.word32(offAssembly)}
}

// WakeAll makes every process check everything once, and so repairs any wake-up that was lost with
// its sender. WakeAll follows every entry in the list of deaths.
func (n *Node) WakeAll(s park.Sleeper) {
	n.MoveEpoch()
	round := n.Round(s)
	for p := range n.Started() {
		round.RingAlways(n.Doorbell(p))
	}
	round.End()
}
