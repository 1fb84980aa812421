// Package boot gives a process its place in the job: its rank, the size of the job, and the
// memory that the process shares with its peers. The launcher passes all of this in one
// environment variable and in inherited descriptors. Started without a launcher, a program runs
// as a single rank.
package boot

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
)

// Variable is the environment variable with an Info as JSON.
const Variable = "GOULFM_BOOT"

// Exit codes of a rank. They show the launcher and the user how the rank failed.
const (
	ExitError  = 1 // the body of the rank returned an error, or Finalize did
	ExitPanic  = 2 // the body of the rank panicked: the exit code of the Go runtime
	ExitInit   = 3 // Init failed
	ExitFenced = 5 // the rank has learned that it was declared dead
)

// Info is the launcher's description of a process and its job, for that process.
type Info struct {
	Job        uint64 `json:"job"`
	Rank       int    `json:"rank"`
	Size       int    `json:"size"`
	First      int    `json:"first,omitempty"`   // process number of rank 0: processes are numbered through the job
	Spawned    bool   `json:"spawned,omitempty"` // a process of the job started this one: its world holds the processes that were started together
	Spare      bool   `json:"spare,omitempty"`   // the process waits for a rank to replace
	NodeFd     int    `json:"nodeFd"`            // segment 0
	LifelineFd int    `json:"lifelineFd"`        // socket to the launcher: the stream ends when the launcher does
	ArenasFd   int    `json:"arenasFd"`          // memory of all arenas
	Keeps      bool   `json:"keeps,omitempty"`   // the process maps the memory of the node that outlives processes
	KeepFd     int    `json:"keepFd,omitempty"`  // descriptor of that memory; 0: there is none
	Cores      int    `json:"cores"`             // usable by the job on this node
	Crowd      int    `json:"crowd,omitempty"`   // in a job on several nodes: ranks per core on the node with the most; equal in all processes
	Ranks      int    `json:"ranks"`             // number of ranks at the start of the job: the base of all values that must be equal in all processes

	Mesh    *Mesh         `json:"mesh,omitempty"`    // in a job on several nodes
	Marks   []Mark        `json:"marks,omitempty"`   // points at which this process kills itself with SIGKILL, or at which the launcher ends its node
	Ring    bool          `json:"ring,omitempty"`    // detect deaths by heartbeats, not by tombstones
	Period  time.Duration `json:"period,omitempty"`  // of heartbeats
	Timeout time.Duration `json:"timeout,omitempty"` // of the ring
	Watched bool          `json:"watched,omitempty"` // the launcher checks for signs of life: see Process.Beat
	Fence   bool          `json:"fence,omitempty"`   // a process that was declared dead may run on
	Era     bool          `json:"era,omitempty"`     // agree by messages, not in the nodes' memory
	Build   uint32        `json:"build"`             // of the daemon: buildid.Build, which Env sets and FromEnv checks
}

// Mesh holds the descriptors by which a process reaches the processes of other nodes and is
// woken.
type Mesh struct {
	TableFd  int   `json:"tableFd"`  // a TableFile
	ListenFd int   `json:"listenFd"` // this process accepts connections on this socket
	BellFds  []int `json:"bellFds"`  // eventfds, in the order of Slots
	Slots    []int `json:"seats"`    // of the node

	Generation uint32 `json:"generation,omitempty"` // number of processes that had the slot before this one
}

// A Table locates the processes of all slots of a job. The daemon passes the table over a
// descriptor because it holds the job's secret.
type Table struct {
	Secret []byte   `json:"secret"`
	Secure string   `json:"secure"` // protection of the connections between members of the job: see socket.ParseMode
	Node   int      `json:"node"`   // of this process
	Addrs  []string `json:"addrs"`  // by slot: the listening address; empty: the node may come late, with a Row
	Births []uint64 `json:"births"` // by slot, of its first process
	Nodes  []int    `json:"nodes"`  // by slot
}

// Check returns the fault in a table of a job with procs slots, or nil.
func (t *Table) Check(procs int) error {
	if len(t.Addrs) != procs || len(t.Births) != procs || len(t.Nodes) != procs {
		return fmt.Errorf("table of %d addresses, %d births, %d nodes for %d slots", len(t.Addrs), len(t.Births), len(t.Nodes), procs)
	}
	return nil
}

// Mark is a point in a program: a call of Mark(Name, N).
type Mark struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	Node bool   `json:"node,omitempty"` // the launcher ends the node of the process there, and the process with it
}

// FromEnv returns the Info that the launcher left in the environment. FromEnv also removes the
// variable, so that programs started by this process do not take themselves for ranks. ok is
// false if no launcher set the variable. If the daemon that set the variable is of another build
// than this process, the error Is buildid.ErrAnother.
func FromEnv() (info Info, ok bool, err error) {
	text, ok := os.LookupEnv(Variable)
	if !ok {
		return info, false, nil
	}
	os.Unsetenv(Variable)
	stamp, err := buildid.Read([]byte(text))
	if err == nil {
		if err := stamp.CheckRank(); err != nil {
			return info, true, err
		}
		err = json.Unmarshal([]byte(text), &info)
	}
	if err != nil {
		return info, true, fmt.Errorf("environment variable %s: %w: it is set by goulfm run, do not set it by hand", Variable, err)
	}
	if info.Size < 1 || info.Rank < 0 || info.Rank >= info.Size || info.First < 0 {
		return info, true, fmt.Errorf("environment variable %s: rank %d of %d", Variable, info.Rank, info.Size)
	}
	return info, true, nil
}

// Sharing returns how many ranks share a core, rounded up. The value is equal in all processes of
// the job.
func (i Info) Sharing() int {
	if i.Crowd > 0 {
		return i.Crowd
	}
	return (i.Ranks + i.Cores - 1) / max(i.Cores, 1)
}

// Proc is the number of the process in the job.
func (i Info) Proc() int { return i.First + i.Rank }

// Env returns the environment entry that FromEnv reads.
func (i Info) Env() string {
	i.Build = buildid.Build
	b, err := json.Marshal(i)
	if err != nil {
		panic(err) // numbers, bools and strings always marshal
	}
	return Variable + "=" + string(b)
}
