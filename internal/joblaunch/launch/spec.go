// Package launch starts the processes of a job on this machine, watches them,
// tells the survivors of deaths, and leaves nothing behind: no process, no file,
// no shared memory, however it ends.
package launch

import (
	"io"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// Exit codes of a job.
const (
	ExitRank      = boot.ExitError // a rank failed without a code of its own
	ExitUsage     = 2
	ExitFailed    = 3               // the launch failed
	ExitTooMany   = job.CodeTooMany // nobody survived
	ExitFenced    = boot.ExitFenced // a process that was declared dead
	ExitOutput    = 6               // all went well, but output could not be written
	ExitPlan      = 7               // all went well, but a planned fault did not happen
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
	Renewal
	Program string   // a file, a name in PATH, or a Go package (./dir)
	Args    []string // of the program
	Env     []string // NAME=VALUE, added to the environment
	Dir     string   // working directory; empty: this one

	Hosts Hosts // where the ranks run

	Stdin     string // "none", "all" or a rank
	Tag       bool   // begin each line with its rank
	Timestamp bool   // begin each line with the seconds since the start
	OutputDir string // write rank.N.out and rank.N.err there instead

	Timeout time.Duration // 0: none
	Grace   time.Duration // from the first SIGTERM until ranks that have not ended are killed; 0: never
	Faults
	Ring         bool // find deaths by heartbeats between ranks
	Period       time.Duration
	Factor       int           // the ring's timeout in periods
	SuspectAfter time.Duration // kill a rank that shows no life for so long; 0: never
	Fence        bool          // declare such a rank dead without killing it
	Era          bool          // agree by messages, not in the nodes' memory

	Survive Survive // empty: SurviveKilled

	Watch  bool // tell programs that are no ranks who lives
	Report bool // JSON events on stderr instead of text
	Quiet  bool // no narration

	Verbose bool // reports on waiting ranks have the library's own stacks, too

	appends bool // output goes behind what is in the files

	Stdout, Stderr io.Writer
	In             *os.File
}

// Hosts are the nodes of a job on several, and how their daemons are started. Without Nodes a job
// runs on this machine, in its memory.
type Hosts struct {
	Nodes        []Node
	Late         int                  // so many more nodes may come while the job runs, with as many slots as the largest; of LauncherEngine
	Launcher     string               // LauncherLocal, LauncherSSH, LauncherSlurm or LauncherEngine
	Starter      daemonclient.Starter // of LauncherEngine
	Rsh          []string             // the command instead of ssh
	DaemonPath   string               // of goulfm there; empty: that of this program
	Iface        string               // address of this machine at which daemons reach it; empty: all
	StartTimeout time.Duration        // all daemons must be there
	Secure       string               // how they talk: tls or auth; empty: auth where all nodes are this machine, else tls
	Confirm      time.Duration        // what a silent node has to answer, beyond the timeout; 0: half of that
	Detection    time.Duration        // how soon a silent node is known, at as few heartbeats as will do; 0: as timeout and Confirm say
	LinkTimeout  time.Duration        // how long two living nodes may fail to reach each other
	OrphanAfter  time.Duration        // when a node ends that stands still because it hears nothing of the launcher
	Survive      bool                 // a majority of launcher and nodes goes on without those that are gone, be it the launcher
}

// A Node is one of a job on several.
type Node struct {
	Name  string
	User  string // to log in as; empty: ssh's choice
	Slots int    // how many ranks it takes
	Rack  string // nodes of one rack are not neighbours on the ring of nodes; empty: not known
}

// Renewal is what takes the place of the dead.
type Renewal struct {
	Spares   int // processes that wait for a rank to replace
	Respawn  int // with Limited: how many processes may be started to replace others, or spares that did
	Limited  bool
	Restarts int // how often all ranks are started anew when none is left
}

// Faults are what is planned to go wrong.
type Faults struct {
	Kills []Kill
	Stops []Stop
	Cuts  []Cut
	Must  bool // a fault that does not happen fails the job
}

// Kill is one planned death.
type Kill struct {
	Text  string // as it was given
	Rank  int
	Node  int           // 1 more than the node that dies, with all that runs there; 0: the rank does
	Self  bool          // the launcher dies
	After time.Duration // once all ranks are in Init; used when Point is empty
	Point string        // when it reaches Mark(Point, Value); a node: when the first one of its processes does
	Value int
}

// Stop is one planned pause of a node.
type Stop struct {
	Text  string // as it was given
	Node  int
	After time.Duration // once all ranks are in Init
	For   time.Duration
}

// A Cut is a planned cut of the network between nodes of this machine.
type Cut struct {
	Text string // as it was given
	// Groups reach each other no more: nodes, or LauncherNode. Nodes that are in none are in the
	// first group, and so is the launcher.
	Groups [][]int
	// OneWay: only what the first group says to the second is held back.
	OneWay bool
	After  time.Duration // once all ranks are in Init
	For    time.Duration
}

// LauncherNode is the launcher among the nodes of a Cut.
const LauncherNode = -1

// spareProcs are processes that a job can start, beyond as many as it began with.
const spareProcs = 16

// RanksMax bounds the processes of a job on one machine.
const RanksMax = 4096

// universe is for how many processes there is memory. It is sparse: who is not started
// costs next to nothing.
func (s *Spec) universe() int { return s.firstSlots() + s.lateSlots() }

// firstSlots is how many slots the nodes have with which the job begins.
func (s *Spec) firstSlots() int {
	switch {
	case s.Ring: // of all that there can be each watches its neighbour
		return s.N
	case s.Universe > 0:
		return s.Universe
	}
	return min(2*s.N+s.Spares+spareProcs, RanksMax)
}

// lateNodes is how many nodes may come while the job runs: as many as there are numbers for, of
// nodes and of processes.
func (s *Spec) lateNodes() int {
	if s.Hosts.Survive || s.Hosts.Late == 0 {
		return 0
	}
	room := (RanksMax - s.firstSlots()) / s.slotsMax()
	return max(0, min(s.Hosts.Late, membership.MembersMax-1-len(s.Hosts.Nodes), room))
}

// lateSlots is how many slots those have.
func (s *Spec) lateSlots() int { return s.lateNodes() * s.slotsMax() }

// slotsMax is how many ranks the largest node takes.
func (s *Spec) slotsMax() (most int) {
	for _, n := range s.Hosts.Nodes {
		most = max(most, n.Slots)
	}
	return max(most, 1)
}

// How the daemons of nodes are started.
const (
	LauncherLocal = "local" // on this machine, whatever the names of the hosts
	LauncherSSH   = "ssh"
	LauncherSlurm = "slurm" // with srun, in an allocation

	LauncherEngine = "engine" // by a job engine, before this launcher: see Hosts.Starter
)
