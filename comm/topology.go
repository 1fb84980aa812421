package comm

// A topology defines the neighbours of each rank. A topology belongs to a communicator and does not
// change.
type topology interface {
	// neighbors returns, for a rank, the sources of its incoming edges and the destinations of its
	// outgoing edges, in the order in which neighborhood collectives use them.
	neighbors(rank int) (in, out []int)
	// arrivals returns the order in which several edges from one rank match, as indices of in; nil:
	// in order.
	arrivals(rank int) []int
}

// Neighbors returns the sources of the edges to this member and the destinations of its own edges,
// in the order of the neighborhood collectives (MPI 8.6): with Cart, for each dimension the
// neighbor below and the neighbor above, None at a border; with Graph the neighbors as passed, in
// both; with DistGraph the sources and destinations as passed. Without a topology both are nil. The
// slices are the caller's.
func (c *Comm) Neighbors() (in, out []int) {
	if c.topo == nil {
		return nil, nil
	}
	return c.topo.neighbors(c.Rank())
}
