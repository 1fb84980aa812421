package rm

import (
	"fmt"
	"strings"
)

// Engine is the launcher of a process.
type Engine int

// The engines, in the order of the rows of the table.
const (
	Alone      Engine = iota // no engine has started several processes: a single rank
	Goulfm                   // goulfm run: all other data is in the variable of internal/joblaunch/boot
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

// Unknown stands for a number that the engine has not reported.
const Unknown = -1

// RanksMax bounds the size of a world that a claim may have.
const RanksMax = 1 << 23

// Claim is the identity of a process according to its environment. Unknown numbers are Unknown,
// unknown lists nil.
type Claim struct {
	Engine Engine
	Rank   int // in the world that the engine has started
	Size   int // of that world
	Local  int // of this process among the processes of its node, from 0
	Locals int // number of processes that the engine starts on this node
	Node   int // of this process among the nodes, from 0
	Nodes  int // number of nodes at the start; a later node has a larger number

	NodesMax int // number of nodes that there may be later, at a time; 0: as many as at the start, or Unknown

	Peers   []int    // the ranks on this node, including this one
	Hosts   []string // the nodes' names, by node
	Key     string   // names this one start of this one world: all ranks have the same key, and no other start has it
	Why     string   // the evidence that decided, with the variables
	Ignored []string // further evidence that did not count, with the reason, one line each

	// Covers names, as key/rank, the claims of the surrounding engines: those that the same
	// variables would have led to without this claim. Each process that this one starts inherits
	// these variables, without the Spent ones.
	Covers []string

	engine string // of a PMI server: the name of its engine, for users
	step   *Claim // PMI only: the claim by Slurm's variables; nil if there is none
	hydra  *place // PMI only: the place by hydra's variables; nil if there is none
}

// place is the position of a process according to hydra and Open MPI.
type place struct{ local, locals int }

// unknown returns a claim in which nothing is known yet.
func unknown(e Engine) Claim {
	return Claim{Engine: e, Rank: Unknown, Size: Unknown, Local: Unknown, Locals: Unknown, Node: Unknown, Nodes: Unknown}
}

// alone returns the claim of a single rank.
func alone(why string) Claim {
	return Claim{Engine: Alone, Size: 1, Locals: 1, Nodes: 1, Why: why}
}

// in sets the place of a process. If all ranks are on one node, the node is known, too.
func (c *Claim) in(p *place) {
	if p == nil {
		return
	}
	c.Local, c.Locals = p.local, p.locals
	if p.locals == c.Size {
		c.Node, c.Nodes = 0, 1
	}
}

// name returns the name of a claim in a mark: its key and its rank, or its node if the engine
// numbers nodes. The name is "" as long as the key is not known.
func (c *Claim) name() string {
	switch {
	case c.Key == "":
		return ""
	case c.Engine == Kubernetes:
		return fmt.Sprintf("%s/%d", c.Key, c.Node)
	}
	return fmt.Sprintf("%s/%d", c.Key, c.Rank)
}

// Mark returns the value for GOULFM_JOINED. A process that has joined a world sets that variable
// for its children, so that they do not claim the same place. "" means to leave the variable as
// it is. A claim by PMI has to be complete (WithServer).
//
// The mark names the surrounding engines, too. Otherwise a child would claim their place: in an
// allocation of two nodes "mpirun -n 4 ./a" makes two tasks of Slurm's, daemons, below which the
// ranks run. A rank removes OMPI_COMM_WORLD_RANK from its environment. Its child, which finds
// SLURM_PROCID=1 of SLURM_STEP_NUM_TASKS=2 there, must not wait for rank 0.
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

// marks reports whether a mark names a claim.
func marks(mark string, c *Claim) bool {
	own := c.name()
	for _, name := range strings.Fields(mark) {
		if name == own {
			return true
		}
	}
	return false
}
