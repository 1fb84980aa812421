// Package boot is how a process learns who it is: its rank, the size of the
// job, and the memory that it shares with its peers. The launcher leaves all of
// it in one environment variable and in inherited descriptors; a program that
// nobody launched is a world of one.
package boot

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Variable is the environment variable with an Info as JSON.
const Variable = "GOULFM_BOOT"

// Exit codes of a rank, by which the launcher and people see how it failed.
const (
	ExitError  = 1 // its body returned an error, or Finalize did
	ExitPanic  = 2 // its body panicked: the code of the Go runtime
	ExitInit   = 3 // Init failed
	ExitFenced = 5 // it has learned that it was declared dead
)

// Info is what the launcher tells a process.
type Info struct {
	Job        uint64 `json:"job"`
	Rank       int    `json:"rank"`
	Size       int    `json:"size"`
	First      int    `json:"first,omitempty"`   // process number of rank 0: processes are numbered through the job
	Spawned    bool   `json:"spawned,omitempty"` // by a process of the job: its world is of those that were started together
	NodeFd     int    `json:"nodeFd"`            // segment 0
	LifelineFd int    `json:"lifelineFd"`        // socket to the launcher: it ends when the launcher does
	ArenasFd   int    `json:"arenasFd"`          // memory of all arenas
	Cores      int    `json:"cores"`             // usable by the job on this node
	Ranks      int    `json:"ranks"`             // with which the job began: what all processes have to see alike goes by it

	Marks   []Mark        `json:"marks,omitempty"`   // points at which this process ends itself by SIGKILL
	Ring    bool          `json:"ring,omitempty"`    // find deaths by heartbeats, not by tombstones
	Period  time.Duration `json:"period,omitempty"`  // of heartbeats
	Timeout time.Duration `json:"timeout,omitempty"` // of the ring
	Watched bool          `json:"watched,omitempty"` // for signs of life: see Process.Beat
	Fence   bool          `json:"fence,omitempty"`   // who is declared dead may run on
	Era     bool          `json:"era,omitempty"`     // agree by messages, not in the node's memory
}

// Mark is a point in a program: what it calls Mark(Name, N) with.
type Mark struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// FromEnv returns what the launcher left in the environment, and takes it out,
// so that programs started by this one do not believe to be ranks. ok is false
// where no launcher left anything.
func FromEnv() (info Info, ok bool, err error) {
	text, ok := os.LookupEnv(Variable)
	if !ok {
		return info, false, nil
	}
	os.Unsetenv(Variable)
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		return info, true, fmt.Errorf("environment variable %s: %w: it is set by goulfm run, do not set it by hand", Variable, err)
	}
	if info.Size < 1 || info.Rank < 0 || info.Rank >= info.Size || info.First < 0 {
		return info, true, fmt.Errorf("environment variable %s: rank %d of %d", Variable, info.Rank, info.Size)
	}
	return info, true, nil
}

// Proc is the number of the process in the job.
func (i Info) Proc() int { return i.First + i.Rank }

// Env returns the environment entry that FromEnv reads.
func (i Info) Env() string {
	b, err := json.Marshal(i)
	if err != nil {
		panic(err) // numbers, bools and strings always marshal
	}
	return Variable + "=" + string(b)
}

// A Message goes over the lifeline, one JSON object a line.
type Message struct {
	What  string   `json:"what"`
	AtNs  int64    `json:"atNs,omitempty"` // CLOCK_MONOTONIC, the same for all processes of the machine
	Comm  string   `json:"comm,omitempty"`
	Procs []int    `json:"procs,omitempty"`
	Name  string   `json:"name,omitempty"`
	N     int      `json:"n,omitempty"`
	Text  string   `json:"text,omitempty"`
	Waits []Wait   `json:"waits,omitempty"`
	Lines []string `json:"lines,omitempty"` // of the program, that wait in a call

	// Of processes that are started by others: see launch.
	Token   uint64   `json:"token,omitempty"` // names a request
	Program string   `json:"program,omitempty"`
	Args    []string `json:"args,omitempty"`
	Env     []string `json:"env,omitempty"`
	First   int      `json:"first,omitempty"` // number of the first of N
	Rank    int      `json:"rank,omitempty"`  // number of the process that asked for them
	UID     []byte   `json:"uid,omitempty"`   // of the communicator with them
	Indices []uint32 `json:"indices,omitempty"`
}

// A Wait is one thing for which a process waits in a call.
type Wait struct {
	Op    string `json:"op"`
	Comm  string `json:"comm"`
	Ranks []int  `json:"ranks,omitempty"` // of Comm, that could end it; none: any
	Tag   int    `json:"tag"`
	Procs []int  `json:"procs,omitempty"` // the same as numbers of processes
}

// ShortOfMemory is the Name of an answer that refuses for want of memory.
const ShortOfMemory = "memory"

// What a Message can say.
const (
	SaysJoined  = "joined"  // process: Init is done
	SaysKill    = "kill"    // process: about to end itself at a Mark
	SaysEvent   = "event"   // process: Name says what, as engine.Event
	SaysAlive   = "alive"   // launcher: show that you live
	SaysSilent  = "silent"  // process: by the ring, Procs show no life
	SaysDump    = "dump"    // launcher: say what you wait for; process: Waits and Text
	SaysAborted = "aborted" // process: it calls Abort with code N, 1 to 255
	SaysFenced  = "fenced"  // process: it has learned that it was declared dead, and ends itself
	SaysSpawn   = "spawn"   // process: start N of Program with Args and Env; Procs could keep them
	SaysSpawned = "spawned" // launcher: N of them from First on, or Text says why not
	SaysKeep    = "keep"    // process, and passed on by the launcher: those from First on have Procs, Indices and UID
	SaysDrop    = "drop"    // process: nobody has those from First on, or, if Rank is dead, those that it asked for
)
