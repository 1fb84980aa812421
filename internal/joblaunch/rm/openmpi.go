package rm

import "fmt"

// openMPI is row 4. PMIX_NAMESPACE names the start. No variable names another host, and only the
// number of ranks on this node is known, not which.
func (r *reading) openMPI() {
	const rank, size, space = "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"
	if !r.has(rank) {
		if r.has("PMIX_RANK") { // srun --mpi=pmix sets PMIX_RANK, too: then row 5 holds
			r.fail("PMIX_RANK", "nothing says of how many")
		}
		return
	}
	i, n, ok := r.rankOf(rank, size)
	switch {
	case !ok:
		r.fail(rank, r.show(rank)+" and "+r.show(size)+" are no rank and size")
		return
	case r.vars[space] == "":
		r.fail(rank, r.show(space)+", which is to name the job")
		return
	}
	c := unknown(OpenMPI)
	c.Rank, c.Size, c.Key = i, n, "pmix/"+key(r.vars[space])
	c.Why = fmt.Sprintf("%s=%d of %s=%d", rank, i, size, n)
	c.in(r.place("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", n))
	r.hold(c)
}
