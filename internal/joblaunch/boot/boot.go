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

	"github.com/goulfm/goulfm/internal/base/buildid"
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
	Spare      bool   `json:"spare,omitempty"`   // it waits for a rank to replace
	NodeFd     int    `json:"nodeFd"`            // segment 0
	LifelineFd int    `json:"lifelineFd"`        // socket to the launcher: it ends when the launcher does
	ArenasFd   int    `json:"arenasFd"`          // memory of all arenas
	Keeps      bool   `json:"keeps,omitempty"`   // it gets the memory of the node that outlives processes
	KeepFd     int    `json:"keepFd,omitempty"`  // that memory; 0: there is none
	Cores      int    `json:"cores"`             // usable by the job on this node
	Crowd      int    `json:"crowd,omitempty"`   // of a job on several nodes: how many ranks share a core, where that is the most; the same for all
	Ranks      int    `json:"ranks"`             // with which the job began: what all processes have to see alike goes by it

	Mesh    *Mesh         `json:"mesh,omitempty"`    // of a job on several nodes
	Marks   []Mark        `json:"marks,omitempty"`   // points at which this process ends itself by SIGKILL, or its node is ended
	Ring    bool          `json:"ring,omitempty"`    // find deaths by heartbeats, not by tombstones
	Period  time.Duration `json:"period,omitempty"`  // of heartbeats
	Timeout time.Duration `json:"timeout,omitempty"` // of the ring
	Watched bool          `json:"watched,omitempty"` // for signs of life: see Process.Beat
	Fence   bool          `json:"fence,omitempty"`   // who is declared dead may run on
	Era     bool          `json:"era,omitempty"`     // agree by messages, not in the nodes' memory
	Build   uint32        `json:"build"`             // of the daemon: buildid.Build, which Env sets and FromEnv checks
}

// Mesh are the descriptors by which a process reaches those of other nodes, and is woken.
type Mesh struct {
	TableFd  int   `json:"tableFd"`  // a TableFile
	ListenFd int   `json:"listenFd"` // where this process accepts connections
	BellFds  []int `json:"bellFds"`  // eventfds, in the order of Slots
	Slots    []int `json:"seats"`    // of the node

	Generation uint32 `json:"generation,omitempty"` // how many processes had its slot before
}

// A Table says where the processes of all slots of a job are. It goes over a descriptor, for it
// holds the job's secret.
type Table struct {
	Secret []byte   `json:"secret"`
	Secure string   `json:"secure"` // how members of the job talk: see socket.ParseMode
	Node   int      `json:"node"`   // of this process
	Addrs  []string `json:"addrs"`  // by slot: where it listens; empty: its node may come late, with a Row
	Births []uint64 `json:"births"` // by slot, of its first process
	Nodes  []int    `json:"nodes"`  // by slot
}

// Check says what is wrong with a table of a job with that many slots, or nil.
func (t *Table) Check(procs int) error {
	if len(t.Addrs) != procs || len(t.Births) != procs || len(t.Nodes) != procs {
		return fmt.Errorf("table of %d addresses, %d births, %d nodes for %d slots", len(t.Addrs), len(t.Births), len(t.Nodes), procs)
	}
	return nil
}

// Mark is a point in a program: what it calls Mark(Name, N) with.
type Mark struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	Node bool   `json:"node,omitempty"` // its node is ended there by the launcher, and the process with it
}

// FromEnv returns what the launcher left in the environment, and takes it out,
// so that programs started by this one do not believe to be ranks. ok is false
// where no launcher left anything. It is an error that Is buildid.ErrAnother if the daemon that
// left it is of another build than this process.
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

// Sharing is how many ranks share a core, rounded up: the same for all of the job.
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
