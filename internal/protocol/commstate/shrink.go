package commstate

import "github.com/goulfm/goulfm/era"

// shrunk returns the communicator of a shrink: the members that are not agreed to be dead, in old
// order (R38, R39). It raises neither process failure nor revoked (R40): a member that dies
// meanwhile is found on the new communicator (R41, A20). A member that is not dead and did not
// contribute has left the communicator; it is left out, too.
func (g *Group) shrunk(p Proposal, v era.Value) (*NewComm, error) {
	nc := g.child(p, 0, v.From.Len())
	for rank := range g.Procs {
		if v.Dead.Has(rank) || !v.From.Has(rank) {
			continue
		}
		m, err := contribution(p.Call, v, rank)
		if err != nil {
			return nil, err
		}
		nc.join(g, m)
	}
	return nc, nil
}
