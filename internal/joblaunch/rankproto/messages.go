package rankproto

import (
	"fmt"
	"math"
)

// A Message is one of the types of this file. Messages name processes by their numbers, which no
// other process ever has: the process that a late message names is never taken for the next one in
// its slot.
type Message interface {
	what() string
	// check says what is wrong with the numbers of a message in a job with room for that many
	// processes at a time.
	check(procs int) error
}

// Joined says that the rank is through Init. It is said once.
type Joined struct{}

// Killing says that the rank is about to end itself at a planned point of its program.
type Killing struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// An Event is what the rank has seen, as engine.Event.
type Event struct {
	Name  string `json:"name"`
	Comm  string `json:"comm,omitempty"`
	Procs []int  `json:"procs,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Silent says that the ring detector of the rank finds that processes show no life.
type Silent struct {
	Procs []int `json:"procs"`
}

// Fenced says that the rank has learned that it was declared dead, and ends itself.
type Fenced struct{}

// Aborted says that the rank calls Abort with a code from 1 to 255, for the processes named or,
// without any, for the whole job.
type Aborted struct {
	Code  int   `json:"code"`
	Procs []int `json:"procs,omitempty"`
}

// Finalizes has the numbers of calls of Init and, fewer, of Finalize at a rank, whose world continues.
type Finalizes struct {
	Inits     int `json:"inits"`
	Finalizes int `json:"finalizes"`
}

// Spawn asks for N new processes. Token names the request, Procs are the members that could
// keep them, the sender is the root.
type Spawn struct {
	Token   uint64   `json:"token"`
	N       int      `json:"n"`
	Program string   `json:"program,omitempty"` // empty: that of the job
	Args    []string `json:"args,omitempty"`
	Env     []string `json:"env,omitempty"`
	Procs   []int    `json:"procs"`
	Replace bool     `json:"replace,omitempty"` // they get ranks of the dead: spares will do
}

// Spawned answers the Spawn of that Token: N processes in a row of slots, of which First is the
// first process, or Why not.
type Spawned struct {
	Token uint64 `json:"token"`
	First int    `json:"first,omitempty"`
	N     int    `json:"n,omitempty"`
	Short bool   `json:"short,omitempty"` // the job has room for fewer processes
	Died  bool   `json:"died,omitempty"`  // one was killed, or lost with its node, before it was in Init
	Why   string `json:"why,omitempty"`
}

// Keep says that the members of a communicator agree to have the processes of which First is the
// first. A member says it to its daemon, and the daemon to each of those processes. Procs are the
// slots of all members of the communicator with them: no slot is used again before every member has
// said so. Indices are its context index at each, UID its identity.
type Keep struct {
	First   int      `json:"first"`
	Procs   []int    `json:"procs"`
	Indices []uint32 `json:"indices"`
	UID     []byte   `json:"uid"`
	// Place is given where the processes get ranks among those who started them.
	Place *Place `json:"place,omitempty"`
}

// A Place is what a process is told that gets a rank among others: of their communicator, what
// it comes of and how often that was repaired, its epoch and whether it is in uniform mode; and
// what they hand over.
type Place struct {
	Name     string `json:"name"`
	Repairs  int    `json:"repairs,omitempty"`
	Epoch    uint64 `json:"epoch,omitempty"`
	Uniform  bool   `json:"uniform,omitempty"`
	Fresh    bool   `json:"fresh,omitempty"`  // its first member is one of those who get a rank
	Memory   bool   `json:"memory,omitempty"` // those who started it use the node's memory that outlives processes
	Handover []byte `json:"handover,omitempty"`
}

// Drop means that nobody has the N processes of which First is the first. N 0: of those which Root
// asked for that who says so will not keep them, if Root is dead and could not say their number.
type Drop struct {
	First int `json:"first,omitempty"`
	N     int `json:"n,omitempty"`
	Root  int `json:"root,omitempty"`
}

// Revoked says that the sender revokes a communicator, before it tells any member of that. The
// daemon says it of a rank that has died.
type Revoked struct {
	Name []byte `json:"name"` // a member.Revocation: 16 bytes
}

// Unmet says that the rank has not been able to connect to the process of a slot, and wants to be
// dialed by it. Lane is the class of frames. With Over it has met the process, or needs it no more.
type Unmet struct {
	Proc int    `json:"proc"`
	Lane int    `json:"lane"`
	Addr string `json:"addr,omitempty"`
	Why  string `json:"why,omitempty"`
	Over bool   `json:"over,omitempty"`
}

// Meet asks a rank to dial the process of a slot, which cannot dial.
type Meet struct {
	Proc int `json:"proc"`
	Lane int `json:"lane"`
}

// Prove asks a rank for a sign of life.
type Prove struct{}

// Describe asks a rank what it waits for; the answer is a Dump.
type Describe struct{}

// A Dump says what a rank waits for.
type Dump struct {
	Waits []Wait   `json:"waits,omitempty"`
	Lines []string `json:"lines,omitempty"` // of the program, that wait in a call
	Text  string   `json:"text"`            // state and stacks
}

// A Wait is one thing for which a process waits in a call.
type Wait struct {
	Op    string `json:"op"`
	Comm  string `json:"comm"`
	Ranks []int  `json:"ranks,omitempty"` // of Comm, that could end it; none: any
	Tag   int    `json:"tag"`
	Procs []int  `json:"procs,omitempty"` // the same as numbers of processes
	Any   bool   `json:"any,omitempty"`   // one of them can end the wait; else it takes all

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

// slotBits are the bits of a process's number that are its slot.
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
