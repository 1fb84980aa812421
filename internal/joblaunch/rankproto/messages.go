package rankproto

import (
	"fmt"
	"math"
)

// A Message is one of the types of this file. Messages name processes by their numbers, which are
// never reused: the process that a late message names is never taken for the next process in its
// slot.
type Message interface {
	what() string
	// check returns the fault in the numbers of a message, or nil, in a job with room for procs
	// processes at a time.
	check(procs int) error
}

// Joined reports that the rank is through Init. A rank sends it once.
type Joined struct{}

// Killing reports that the rank is about to end itself at a planned point of its program.
type Killing struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// An Event is an engine.Event of the rank.
type Event struct {
	Name  string `json:"name"`
	Comm  string `json:"comm,omitempty"`
	Procs []int  `json:"procs,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Silent reports processes that show no life to the ring detector of the rank.
type Silent struct {
	Procs []int `json:"procs"`
}

// Fenced reports that the rank has learned that it was declared dead, and ends itself.
type Fenced struct{}

// Aborted reports that the rank calls Abort with a code from 1 to 255, for the processes in Procs
// or, if Procs is empty, for the whole job.
type Aborted struct {
	Code  int   `json:"code"`
	Procs []int `json:"procs,omitempty"`
}

// Finalizes has the numbers of calls of Init and of Finalize at a rank whose world continues.
// Inits is the larger number.
type Finalizes struct {
	Inits     int `json:"inits"`
	Finalizes int `json:"finalizes"`
}

// Spawn requests N new processes. Token names the request, Procs are the members that could keep
// the processes, and the sender is the root.
type Spawn struct {
	Token   uint64   `json:"token"`
	N       int      `json:"n"`
	Program string   `json:"program,omitempty"` // empty: that of the job
	Args    []string `json:"args,omitempty"`
	Env     []string `json:"env,omitempty"`
	Procs   []int    `json:"procs"`
	Replace bool     `json:"replace,omitempty"` // the processes get ranks of dead processes: spares can do that, too
}

// Spawned answers the Spawn with that Token. N processes start in consecutive slots, and First is
// the number of the first. If there are none, Why gives the reason.
type Spawned struct {
	Token uint64 `json:"token"`
	First int    `json:"first,omitempty"`
	N     int    `json:"n,omitempty"`
	Short bool   `json:"short,omitempty"` // the job has room for fewer processes
	Died  bool   `json:"died,omitempty"`  // one was killed, or lost with its node, before it was in Init
	Why   string `json:"why,omitempty"`
}

// Keep reports that the members of a communicator agree to keep started processes, of which First
// is the first. A member sends Keep to its daemon, and the daemon sends it to each of these
// processes. Procs are the slots of all members of the communicator with the new processes: no
// slot is used again before every member has sent Keep. Indices are the communicator's context
// index at each member, UID is its identity.
type Keep struct {
	First   int      `json:"first"`
	Procs   []int    `json:"procs"`
	Indices []uint32 `json:"indices"`
	UID     []byte   `json:"uid"`
	// Place is set if the processes get ranks in the communicator of their starters.
	Place *Place `json:"place,omitempty"`
}

// A Place describes, to a process that gets a rank among others, their communicator: the name of
// its origin and the number of repairs since, its epoch and whether it is in uniform mode. A
// Place also carries the handover from the members.
type Place struct {
	Name     string `json:"name"`
	Repairs  int    `json:"repairs,omitempty"`
	Epoch    uint64 `json:"epoch,omitempty"`
	Uniform  bool   `json:"uniform,omitempty"`
	Fresh    bool   `json:"fresh,omitempty"`  // the first member of the communicator is one of the new processes
	Memory   bool   `json:"memory,omitempty"` // the starters use the memory of the node that outlives processes
	Handover []byte `json:"handover,omitempty"`
}

// Drop reports that no communicator keeps the N processes of which First is the first. With N 0,
// the sender reports that it will not keep the processes that Root requested. Such a report
// counts if Root is dead and could not report the number.
type Drop struct {
	First int `json:"first,omitempty"`
	N     int `json:"n,omitempty"`
	Root  int `json:"root,omitempty"`
}

// Revoked reports that the sender revokes a communicator. A rank sends Revoked before it notifies
// any member. The daemon passes the Revoked of a rank that has died on to the other ranks.
type Revoked struct {
	Name []byte `json:"name"` // a commstate.Revocation: 16 bytes
}

// Unmet reports that the rank could not connect to the process of a slot, and requests that this
// process dial the rank. Lane is the class of frames. With Over the rank has met the process, or
// needs it no more.
type Unmet struct {
	Proc int    `json:"proc"`
	Lane int    `json:"lane"`
	Addr string `json:"addr,omitempty"`
	Why  string `json:"why,omitempty"`
	Over bool   `json:"over,omitempty"`
}

// Meet asks a rank to dial the process of a slot, which cannot dial the rank.
type Meet struct {
	Proc int `json:"proc"`
	Lane int `json:"lane"`
}

// Prove asks a rank for a sign of life.
type Prove struct{}

// Describe asks a rank for its waiting calls; the answer is a Dump.
type Describe struct{}

// A Dump describes the waiting calls of a rank.
type Dump struct {
	Waits []Wait   `json:"waits,omitempty"`
	Lines []string `json:"lines,omitempty"` // lines of the program that wait in a call
	Text  string   `json:"text"`            // state and stacks
}

// A Wait is one condition for which a process waits in a call.
type Wait struct {
	Op    string `json:"op"`
	Comm  string `json:"comm"`
	Ranks []int  `json:"ranks,omitempty"` // of Comm, that could end the wait; none: any
	Tag   int    `json:"tag"`
	Procs []int  `json:"procs,omitempty"` // the same as numbers of processes
	Any   bool   `json:"any,omitempty"`   // one of them can end the wait; otherwise all are needed

	Together bool `json:"together,omitempty"` // a call that all members of Comm make
}

func (Joined) what() string    { return "joined" }
func (Killing) what() string   { return "kill" }
func (Event) what() string     { return "event" }
func (Silent) what() string    { return "silent" }
func (Fenced) what() string    { return "fenced" }
func (Aborted) what() string   { return "aborted" }
func (Finalizes) what() string { return "finalizes" }
func (Spawn) what() string     { return "spawn" }
func (Spawned) what() string   { return "spawned" }
func (Keep) what() string      { return "keep" }
func (Drop) what() string      { return "drop" }
func (Revoked) what() string   { return "revoked" }
func (Unmet) what() string     { return "unmet" }
func (Meet) what() string      { return "meet" }
func (Prove) what() string     { return "prove" }
func (Describe) what() string  { return "describe" }
func (Dump) what() string      { return "dump" }

func (Joined) check(int) error        { return nil }
func (Killing) check(int) error       { return nil }
func (m Event) check(procs int) error { return checkNumbers(procs, m.Procs...) }

// slotBits is the number of bits of a process's number that hold its slot.
const slotBits = 16

func (m Silent) check(procs int) error { return checkNumbers(procs, m.Procs...) }
func (Fenced) check(int) error         { return nil }

func (m Aborted) check(procs int) error {
	if m.Code < 1 || m.Code > 255 {
		return fmt.Errorf("abort with code %d", m.Code)
	}
	return checkNumbers(procs, m.Procs...)
}

func (m Finalizes) check(int) error {
	if m.Finalizes < 1 || m.Inits <= m.Finalizes {
		return fmt.Errorf("%d calls of Init and %d of Finalize", m.Inits, m.Finalizes)
	}
	return nil
}

func (m Spawn) check(procs int) error {
	if m.N < 1 {
		return fmt.Errorf("%d processes to start", m.N)
	}
	return checkNumbers(procs, m.Procs...)
}

func (m Spawned) check(procs int) error {
	if m.N < 0 || m.N > procs {
		return fmt.Errorf("%d processes started", m.N)
	}
	return checkNumbers(procs, m.First)
}

func (m Keep) check(procs int) error {
	if len(m.Indices) != len(m.Procs) {
		return fmt.Errorf("%d context indices of %d members", len(m.Indices), len(m.Procs))
	}
	if err := checkNumbers(procs, m.First); err != nil {
		return err
	}
	return checkSlots(procs, m.Procs...)
}

func checkSlots(procs int, slots ...int) error {
	for _, slot := range slots {
		if slot < 0 || slot >= procs {
			return fmt.Errorf("slot %d of %d", slot, procs)
		}
	}
	return nil
}

func (m Drop) check(procs int) error {
	if m.N < 0 || m.N > procs {
		return fmt.Errorf("%d processes dropped", m.N)
	}
	return checkNumbers(procs, m.First, m.Root)
}

func (m Revoked) check(int) error {
	if len(m.Name) != 16 {
		return fmt.Errorf("a revocation of %d bytes", len(m.Name))
	}
	return nil
}

func (m Unmet) check(procs int) error { return checkSlots(procs, m.Proc) }
func (m Meet) check(procs int) error  { return checkSlots(procs, m.Proc) }

func (Prove) check(int) error    { return nil }
func (Describe) check(int) error { return nil }

func (m Dump) check(procs int) error {
	for _, w := range m.Waits {
		if err := checkNumbers(procs, w.Procs...); err != nil {
			return err
		}
	}
	return nil
}

func checkNumbers(procs int, numbers ...int) error {
	for _, number := range numbers {
		if number < 0 || number > math.MaxUint32 || number&(1<<slotBits-1) >= procs {
			return fmt.Errorf("process %d of %d slots", number, procs)
		}
	}
	return nil
}
