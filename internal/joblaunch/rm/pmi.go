package rm

import "fmt"

// Hydra's variables of the position of a process.
const (
	localRankVariable = "MPI_LOCALRANKID"
	localSizeVariable = "MPI_LOCALNRANKS"
)

// descriptorsMax bounds the descriptors that are checked.
const descriptorsMax = 1 << 20

// pmi is row 3: a PMI-1 server that answers.
func (r *reading) pmi() {
	if c, ok := r.pmiSocket(); ok {
		r.hold(c)
	} else if c, ok := r.pmiPort(); ok {
		r.hold(c)
	}
}

// pmiSocket reads PMI_FD: hydra without -pmi-port, and srun --mpi=pmi2.
func (r *reading) pmiSocket() (Claim, bool) {
	rank, size, ok := r.rankOf("PMI_RANK", "PMI_SIZE")
	fd, number := r.number("PMI_FD", descriptorsMax)
	at := "PMI_FD"
	switch {
	case r.has("PMI_RANK"):
		at = "PMI_RANK"
	case !r.has("PMI_FD"):
		return Claim{}, false
	}
	switch {
	case !r.has("PMI_FD") && r.has("PMI_PORT"):
		return Claim{}, false
	case !number:
		r.fail(at, r.show("PMI_FD")+", which is to be a descriptor of the PMI server")
	case r.socket == nil || !r.socket(fd):
		r.fail(at, r.show("PMI_FD")+" is no socket with a PMI server at its other end (an earlier program of this task may have used it)")
	case !ok:
		r.fail(at, r.show("PMI_RANK")+" and "+r.show("PMI_SIZE")+" are no rank and size")
	default:
		return r.asked(rank, size, fmt.Sprintf("PMI_FD=%d has a server, PMI_RANK=%d of PMI_SIZE=%d", fd, rank, size)), true
	}
	return Claim{}, false
}

// pmiPort reads PMI_PORT: hydra with -pmi-port. Rank and size come from the server.
func (r *reading) pmiPort() (Claim, bool) {
	if !r.has("PMI_PORT") {
		return Claim{}, false
	}
	if _, ok := r.number("PMI_ID", RanksMax); !ok || r.vars["PMI_PORT"] == "" {
		r.fail("PMI_PORT", r.show("PMI_ID")+", which is to be the number for the PMI server")
		return Claim{}, false
	}
	return r.asked(Unknown, Unknown, r.show("PMI_PORT")+" and "+r.show("PMI_ID")), true
}

// asked makes the claim of a process with a PMI server. Only the server's kvsname shows for
// certain to which engine the server belongs; see WithServer.
func (r *reading) asked(rank, size int, why string) Claim {
	c := unknown(PMI)
	c.Rank, c.Size, c.Why = rank, size, why
	c.hydra = r.place(localRankVariable, localSizeVariable, size)
	if step, ok := r.step(); ok {
		c.step = &step
	}
	if c.agrees() && c.hydra == nil {
		c.fromStep()
		c.Ignored = c.step.Ignored
		return c
	}
	c.fromHydra()
	return c
}

// agrees reports whether Slurm's variables describe the same process as PMI's.
func (c *Claim) agrees() bool {
	return c.step != nil && c.step.Rank == c.Rank && c.step.Size == c.Size
}

// fromStep copies from Slurm's variables all fields that PMI does not give.
func (c *Claim) fromStep() {
	s := c.step
	c.Local, c.Locals, c.Node, c.Nodes = s.Local, s.Locals, s.Node, s.Nodes
	c.Peers, c.Hosts, c.Key, c.engine = s.Peers, s.Hosts, s.Key, s.engine
}

// fromHydra copies from hydra's variables all fields that PMI does not give.
func (c *Claim) fromHydra() {
	c.Local, c.Locals, c.Node, c.Nodes = Unknown, Unknown, Unknown, Unknown
	c.Peers, c.Hosts, c.Key, c.engine = nil, nil, "", "hydra"
	c.in(c.hydra)
}

// WithServer completes a claim of PMI with the answers of the PMI server: kvsname after init,
// and, from a server at PMI_PORT, rank and size, which are Unknown otherwise. Other claims are
// returned unchanged.
//
// WithServer decides to which engine the server belongs. The environment cannot show that when
// one engine runs inside of the other:
//
//	srun --mpi=pmi2 -n 2 mpiexec -n 2 ./a    PMI_JOBID is inherited from Slurm; hydra's server
//	mpiexec -n 1 srun --mpi=pmi2 -n 2 ./a    MPI_LOCALNRANKS is inherited from hydra; Slurm's server
//
// Both have the same variables with, in unlucky cases, the same numbers. Slurm names its kvs
// JOB.STEP. A requeued job gets the same name again, so that name is no key.
func (c Claim) WithServer(rank, size int, kvsname string) (Claim, error) {
	if c.Engine != PMI {
		return c, nil
	}
	if rank == Unknown && size == Unknown {
		rank, size = c.Rank, c.Size
	}
	if rank < 0 || rank >= size || size > RanksMax || c.Size != Unknown && (rank != c.Rank || size != c.Size) {
		return c, unusable("the PMI server says rank %d of %d, the environment %d of %d (%s): %s", rank, size, c.Rank, c.Size, c.Why, remedy)
	}
	if kvsname == "" {
		return c, unusable("the PMI server has no kvsname (%s): %s", c.Why, remedy)
	}
	c.Rank, c.Size = rank, size
	if c.agrees() && (c.hydra == nil || "Slurm step "+kvsname == c.step.engine) {
		c.fromStep()
		return c, nil
	}
	if c.hydra != nil && c.hydra.locals > size {
		c.hydra = nil
	}
	c.fromHydra()
	c.Key = "pmi/" + key(kvsname)
	return c, nil
}
