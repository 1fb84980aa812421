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

// Info is what the launcher tells a process.
type Info struct {
	Job        uint64 `json:"job"`
	Rank       int    `json:"rank"`
	Size       int    `json:"size"`
	NodeFd     int    `json:"nodeFd"`     // segment 0
	LifelineFd int    `json:"lifelineFd"` // socket to the launcher: it ends when the launcher does
	ArenaFd    int    `json:"arenaFd"`    // of rank 0; the others follow
	Cores      int    `json:"cores"`      // usable by the job on this node

	Marks   []Mark        `json:"marks,omitempty"`   // points at which this process ends itself by SIGKILL
	Ring    bool          `json:"ring,omitempty"`    // find deaths by heartbeats, not by tombstones
	Period  time.Duration `json:"period,omitempty"`  // of heartbeats
	Timeout time.Duration `json:"timeout,omitempty"` // of the ring
	Beat    time.Duration `json:"beat,omitempty"`    // how often to show that this process lives; 0: never
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
	if info.Size < 1 || info.Rank < 0 || info.Rank >= info.Size {
		return info, true, fmt.Errorf("environment variable %s: rank %d of %d", Variable, info.Rank, info.Size)
	}
	return info, true, nil
}

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
	What  string          `json:"what"`
	AtNs  int64           `json:"atNs,omitempty"` // CLOCK_MONOTONIC, the same for all processes of the machine
	Comm  string          `json:"comm,omitempty"`
	Procs []int           `json:"procs,omitempty"`
	Name  string          `json:"name,omitempty"`
	N     int             `json:"n,omitempty"`
	Text  string          `json:"text,omitempty"`
	Waits json.RawMessage `json:"waits,omitempty"`
}

// What a Message can say.
const (
	SaysJoined  = "joined"  // process: Init is done
	SaysKill    = "kill"    // process: about to end itself at a Mark
	SaysEvent   = "event"   // process: Name says what, as engine.Event
	SaysDump    = "dump"    // launcher: say what you wait for; process: Waits and Text
	SaysAborted = "aborted" // process: it calls Abort with code N
)
