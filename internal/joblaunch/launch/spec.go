// Package launch is the launcher of a job, goulfm run. It starts the processes on this machine, or
// through the daemons of several nodes, monitors them and reports deaths to the survivors. However
// the job ends, it leaves nothing behind: no process, no file, no shared memory.
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
	ExitOutput    = 6               // the ranks succeeded, but output could not be written
	ExitPlan      = 7               // the ranks succeeded, but a planned fault did not happen
	ExitTimeout   = 124
	ExitCannotRun = 126
	ExitNotFound  = 127
	ExitSignal    = job.CodeSignal // plus the signal
)

// Survive selects the failures of ranks that others may survive: see job.Survive.
type Survive = job.Survive

// The values of Survive.
const (
	SurviveKilled = job.SurviveKilled
	SurviveAny    = job.SurviveAny
	SurviveNone   = job.SurviveNone
)

// Spec is the program to run, and its options.
type Spec struct {
	N int
	// Universe is how many processes the job can have at a time, with the processes that it starts
	// itself; 0: 2 N + Spares + 16.
	Universe int
	Renewal
	Program string   // a file, a name in PATH, or a Go package (./dir)
	Args    []string // of the program
	Env     []string // NAME=VALUE, added to the environment
	Dir     string   // working directory; empty: the launcher's

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
	SuspectAfter time.Duration // kill a rank that shows no life for this time; 0: never
	Fence        bool          // declare a silent rank dead without killing its process
	Era          bool          // agree by messages, not in the nodes' memory

	Survive Survive // empty: SurviveKilled

	Watch  bool // let programs outside the job follow which processes live
	Report bool // JSON events on stderr instead of text
	Quiet  bool // no narration

	Verbose bool // reports on waiting ranks have the library's own stacks, too

	appends bool // append to the output files

	Stdout, Stderr io.Writer
	In             *os.File
}

// Hosts are the nodes of a job on several, and how their daemons are started. Without Nodes a job
// runs on this machine, in its memory.
type Hosts struct {
	Nodes        []Node
	Late         int                  // of LauncherEngine: nodes that may join while the job runs, with as many slots as the largest
	Launcher     string               // LauncherLocal, LauncherSSH, LauncherSlurm or LauncherEngine
	Starter      daemonclient.Starter // of LauncherEngine
	Rsh          []string             // the command instead of ssh
	DaemonPath   string               // path of goulfm on the nodes; empty: the path of this program
	Iface        string               // address of this machine for the daemons; empty: all
	StartTimeout time.Duration        // all daemons must have joined by then
	Secure       string               // protection of connections, tls or auth; empty: auth where all nodes are this machine, else tls
	Confirm      time.Duration        // time for a suspected node to answer a probe, after the timeout; 0: half of the timeout
	Detection    time.Duration        // time to detect a silent node, with as few heartbeats as possible; 0: given by timeout and Confirm
	LinkTimeout  time.Duration        // how long two living nodes may fail to reach each other
	OrphanAfter  time.Duration        // how long a frozen node without contact to the launcher lives
	Survive      bool                 // a majority of launcher and nodes continues without lost ones, even without the launcher
}

// A Node is one node of a job on several.
type Node struct {
	Name  string
	User  string // to log in as; empty: ssh's choice
	Slots int    // the most ranks of this node
	Rack  string // nodes of one rack are not neighbours on the ring of nodes; empty: not known
}

// Renewal is how dead processes are replaced.
type Renewal struct {
	Spares   int // processes that wait for a rank to replace
	Respawn  int // with Limited: how many processes may be started to replace others, or to follow used spares
	Limited  bool
	Restarts int // how often all ranks are started anew when none is left
}

// Faults are the planned faults.
type Faults struct {
	Kills []Kill
	Stops []Stop
	Cuts  []Cut
	Must  bool // a fault that does not happen fails the job
}

// Kill is one planned death.
type Kill struct {
	Text  string // as given on the command line
	Rank  int
	Node  int           // 1 more than the node that dies, with all its processes; 0: the rank dies
	Self  bool          // the launcher dies
	After time.Duration // once all ranks are in Init; used when Point is empty
	Point string        // at Mark(Point, Value) of the rank; of a node: when its first process reaches the mark
	Value int
}

// Stop is one planned pause of a node.
type Stop struct {
	Text  string // as given on the command line
	Node  int
	After time.Duration // once all ranks are in Init
	For   time.Duration
}

// A Cut is a planned cut of the network between nodes of this machine.
type Cut struct {
	Text string // as given on the command line
	// Groups no longer reach each other: nodes, or LauncherNode. Nodes outside all groups are in
	// the first group, and so is the launcher.
	Groups [][]int
	// OneWay: only frames from the first group to the second are held back.
	OneWay bool
	After  time.Duration // once all ranks are in Init
	For    time.Duration
}

// LauncherNode is the launcher among the nodes of a Cut.
const LauncherNode = -1

// spareProcs is how many processes a job can start beyond twice its first number.
const spareProcs = 16

// RanksMax bounds the processes of a job on one machine.
const RanksMax = 4096

// universe is the number of slots for which there is memory. The memory is sparse: an unused slot
// costs next to nothing.
func (s *Spec) universe() int { return s.firstSlots() + s.lateSlots() }

// firstSlots is the number of slots of the nodes with which the job begins.
func (s *Spec) firstSlots() int {
	switch {
	case s.Ring: // each rank monitors its neighbour in the ring of all
		return s.N
	case s.Universe > 0:
		return s.Universe
	}
	return min(2*s.N+s.Spares+spareProcs, RanksMax)
}

// lateNodes is how many nodes may join while the job runs, bounded by the numbers of nodes and of
// processes.
func (s *Spec) lateNodes() int {
	if s.Hosts.Survive || s.Hosts.Late == 0 {
		return 0
	}
	room := (RanksMax - s.firstSlots()) / s.slotsMax()
	return max(0, min(s.Hosts.Late, membership.MembersMax-1-len(s.Hosts.Nodes), room))
}

// lateSlots is the number of slots of the late nodes.
func (s *Spec) lateSlots() int { return s.lateNodes() * s.slotsMax() }

// slotsMax is the number of slots of the largest node.
func (s *Spec) slotsMax() (most int) {
	for _, n := range s.Hosts.Nodes {
		most = max(most, n.Slots)
	}
	return max(most, 1)
}

// The ways to start the daemons of nodes.
const (
	LauncherLocal = "local" // on this machine, for any names of the hosts
	LauncherSSH   = "ssh"
	LauncherSlurm = "slurm" // with srun, in an allocation

	LauncherEngine = "engine" // by a job engine, before this launcher: see Hosts.Starter
)
