package rm

import (
	"fmt"
	"strings"
)

// Engine is what started a process.
type Engine int

// The engines, in the order of the rows of the table.
const (
	Alone      Engine = iota // nobody who started more than one: a world of one
	Goulfm                   // goulfm run: all else is in the variable of internal/joblaunch/boot
	PMI                      // an engine with a PMI-1 server: hydra, or Slurm with --mpi=pmi2
	OpenMPI                  // Open MPI's mpirun, PRRTE
	Slurm                    // srun, known by its variables alone
	Kubernetes               // an indexed Job
)

func (e Engine) String() string {
	switch e {
	case Alone:
		return "no engine"
	case Goulfm:
		return "goulfm run"
	case PMI:
		return "PMI-1"
	case OpenMPI:
		return "Open MPI"
	case Slurm:
		return "Slurm"
	case Kubernetes:
		return "Kubernetes"
	}
	return fmt.Sprintf("Engine(%d)", int(e))
}

// Unknown stands for a number that the engine has not told.
const Unknown = -1

// RanksMax bounds the size of a world that is believed.
const RanksMax = 1 << 23

// Claim is who a process says that it is. Numbers that are not known are Unknown, lists
// nil.
type Claim struct {
	Engine Engine
	Rank   int // in the world that the engine has started
	Size   int // of that world
	Local  int // of this process among those of its node, from 0
	Locals int // how many processes the engine starts on this node
	Node   int // of this process among the nodes, from 0
	Nodes  int // how many nodes there are at the start; a later node has a larger number

	NodesMax int // how many there may be later, at a time; 0: as many as at the start, or Unknown

	Peers   []int    // the ranks on this node, also the own
	Hosts   []string // the nodes' names, by node
	Key     string   // names this one start of this one world: what others have too, and no other start has
	Why     string   // what decided, with the variables
	Ignored []string // what was there as well and did not count, with the reason, one line each

	// Covers names, as key/rank, the claims that the same variables would have led to but
	// for this one: those of the engine around. Whoever a process starts inherits these
	// variables, without those that were Spent.
	Covers []string

	engine string // of a PMI server: whose it is, for people
	step   *Claim // PMI only: what Slurm's variables say of this process; nil if they say nothing
	hydra  *place // PMI only: what hydra's variables say of where it is; nil if they say nothing
}

// place is what hydra and Open MPI say of where a process is.
type place struct{ local, locals int }

// unknown is a claim of which nothing is known yet.
func unknown(e Engine) Claim {
	return Claim{Engine: e, Rank: Unknown, Size: Unknown, Local: Unknown, Locals: Unknown, Node: Unknown, Nodes: Unknown}
}

// alone is a world of one.
func alone(why string) Claim {
	return Claim{Engine: Alone, Size: 1, Locals: 1, Nodes: 1, Why: why}
}

// in puts a process at a place. Where all ranks are on one node, the node is known too.
func (c *Claim) in(p *place) {
	if p == nil {
		return
	}
	c.Local, c.Locals = p.local, p.locals
	if p.locals == c.Size {
		c.Node, c.Nodes = 0, 1
	}
}

// name is what a mark calls a claim: its key and its rank, or its node where a node is
// what the engine numbers. "" as long as the key is not known.
func (c *Claim) name() string {
	switch {
	case c.Key == "":
		return ""
	case c.Engine == Kubernetes:
		return fmt.Sprintf("%s/%d", c.Key, c.Node)
	}
	return fmt.Sprintf("%s/%d", c.Key, c.Rank)
}

// Mark is the value for GOULFM_JOINED: who has joined a world leaves it to those that it
// starts, so that they do not claim the same place. "" says to leave that variable as it
// is. A claim by PMI has to be complete (WithServer).
//
// It names the engines around, too. Else a child would claim their place: in an
// allocation of two nodes "mpirun -n 4 ./a" makes two tasks of Slurm's, daemons, below
// which the ranks run. A rank takes OMPI_COMM_WORLD_RANK out of its environment; its child,
// which finds SLURM_PROCID=1 of SLURM_STEP_NUM_TASKS=2 there, must not wait for rank 0.
func (c *Claim) Mark() string {
	var names []string
	if n := c.name(); n != "" {
		names = append(names, n)
	}
	for _, n := range c.Covers {
		if len(names) == 0 || n != names[0] {
			names = append(names, n)
		}
	}
	return strings.Join(names, " ")
}

// marks says whether a mark names a claim.
func marks(mark string, c *Claim) bool {
	own := c.name()
	for _, name := range strings.Fields(mark) {
		if name == own {
			return true
		}
	}
	return false
}
