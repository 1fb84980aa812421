// Package launch starts the processes of a job on this machine, watches them,
// tells the survivors of deaths, and leaves nothing behind: no process, no file,
// no shared memory, however it ends.
package launch

import (
	"io"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/job"
)

// Exit codes of a job.
const (
	ExitRank      = boot.ExitError // a rank failed without a code of its own
	ExitUsage     = 2
	ExitFailed    = 3               // the launch failed
	ExitTooMany   = job.CodeTooMany // nobody survived
	ExitFenced    = boot.ExitFenced // a process that was declared dead
	ExitOutput    = 6               // all went well, but output could not be written
	ExitTimeout   = 124
	ExitCannotRun = 126
	ExitNotFound  = 127
	ExitSignal    = job.CodeSignal // plus the signal
)

// Survive says which failures of ranks others may survive: see job.Survive.
type Survive = job.Survive

// The values of Survive.
const (
	SurviveKilled = job.SurviveKilled
	SurviveAny    = job.SurviveAny
	SurviveNone   = job.SurviveNone
)

// Spec says what to run and how.
type Spec struct {
	N int
	// Universe is how many processes the job can have at a time, with those that it starts
	// itself; 0: twice N, and 16.
	Universe int
	Program  string   // a file, a name in PATH, or a Go package (./dir)
	Args     []string // of the program
	Env      []string // NAME=VALUE, added to the environment
	Dir      string   // working directory; empty: this one

	Hosts Hosts // where the ranks run

	Stdin     string // "none", "all" or a rank
	Tag       bool   // begin each line with its rank
	Timestamp bool   // begin each line with the seconds since the start
	OutputDir string // write rank.N.out and rank.N.err there instead

	Timeout      time.Duration // 0: none
	Kills        []Kill
	Ring         bool // find deaths by heartbeats between ranks
	Period       time.Duration
	Factor       int           // the ring's timeout in periods
	SuspectAfter time.Duration // kill a rank that shows no life for so long; 0: never
	Fence        bool          // declare such a rank dead without killing it
	Era          bool          // agree by messages, not in the node's memory

	Survive Survive // empty: SurviveKilled

	Report bool // JSON events on stderr instead of text
	Quiet  bool // no narration

	Stdout, Stderr io.Writer
	In             *os.File
}

// Hosts are the nodes of a job on several, and how their daemons are started. Without Nodes a job
// runs on this machine, in its memory.
type Hosts struct {
	Nodes        []Node
	Launcher     string        // LauncherLocal or LauncherSSH
	Rsh          []string      // the command instead of ssh
	DaemonPath   string        // of goulfm there; empty: that of this program
	Iface        string        // address of this machine at which daemons reach it; empty: all
	StartTimeout time.Duration // all daemons must be there
	Version      string        // of this program
}

// A Node is one of a job on several.
type Node struct {
	Name  string
	User  string // to log in as; empty: ssh's choice
	Slots int    // how many ranks it takes
}

// Kill is one planned death.
type Kill struct {
	Rank  int
	Node  int           // 1 more than the node that dies, with all that runs there; 0: the rank does
	After time.Duration // once all ranks are in Init; used when Point is empty
	Point string        // when it reaches Mark(Point, Value)
	Value int
}

// spareProcs are processes that a job can start, beyond as many as it began with.
const spareProcs = 16

// RanksMax bounds the processes of a job on one machine.
const RanksMax = 4096

// universe is for how many processes there is memory. It is sparse: who is not started
// costs next to nothing.
func (s *Spec) universe() int {
	switch {
	case s.Ring: // of all that there can be each watches its neighbour
		return s.N
	case s.Universe > 0:
		return s.Universe
	}
	return min(2*s.N+spareProcs, RanksMax)
}

// How the daemons of nodes are started.
const (
	LauncherLocal = "local" // on this machine, whatever the names of the hosts
	LauncherSSH   = "ssh"
)
