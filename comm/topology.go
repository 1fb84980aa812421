package comm

// A topology says who is next to whom. It belongs to a communicator and does not
// change.
type topology interface {
	// neighbors returns, for a rank, from whom and to whom the edges go, in the order
	// in which neighborhood collectives use them.
	neighbors(rank int) (in, out []int)
	// arrivals returns the order in which several edges from one rank are taken, as
	// places of in; nil: as they stand.
	arrivals(rank int) []int
}

// Neighbors returns the ranks whose edges reach this member and those that its own
// edges reach, in the order of the neighborhood collectives (MPI 8.6): with
// Cart, for each dimension the one below and the one above, None at a border; with
// Graph the neighbors as given, in both; with DistGraph the sources and destinations
// as given. Without a topology both are nil. The slices are the caller's.
func (c *Comm) Neighbors() (in, out []int) {
	if c.topo == nil {
		return nil, nil
	}
	return c.topo.neighbors(c.Rank())
}
