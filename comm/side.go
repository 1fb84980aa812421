package comm

// side is one member's view of an intercommunicator. Its ranks are those of the remote group; ranks
// of the union, an ordinary communicator of both groups, are called inner ranks.
type side struct {
	local, remote []int // inner ranks, by rank in the group
	me            int   // in local
	ranks         []int // by inner rank: the rank in the remote group, or None
	second        bool  // the local group is the second of the two
}

// peers returns how many ranks a message on c can name.
func (c *Comm) peers() int {
	if c.side == nil {
		return c.Size()
	}
	return len(c.side.remote)
}

// inner returns the inner rank of a rank that a message names; Any and None stay.
func (c *Comm) inner(rank int) int {
	if c.side == nil || rank < 0 {
		return rank
	}
	return c.side.remote[rank]
}

// outer is the inverse of inner; a member without a rank in the remote group is None.
func (c *Comm) outer(inner int) int {
	if c.side == nil || inner < 0 {
		return inner
	}
	return c.side.ranks[inner]
}

// outerRanks converts inner ranks to the ranks that errors show to the program: on an
// intercommunicator the ranks of the local group are left out. c may be nil.
func (c *Comm) outerRanks(inner []int) []int {
	if c == nil || c.side == nil {
		return inner
	}
	var ranks []int
	for _, r := range inner {
		if r = c.outer(r); r != None {
			ranks = append(ranks, r)
		}
	}
	return ranks
}
