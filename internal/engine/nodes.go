package engine

// Node returns the number of the node on which this process runs.
func (p *Proc) Node() int {
	if p.cfg.Nodes == nil {
		return 0
	}
	return p.cfg.Nodes[p.me]
}

// Nodes returns the members' nodes by rank, read only; nil if all are on one. It is the
// same at all members, and so is PerNode.
func (c *Comm) Nodes() []int { return c.nodes }

// PerNode returns how many members are on the node that has most of them.
func (c *Comm) PerNode() int { return c.perNode }

// findNodes looks where the members are.
func (c *Comm) findNodes() {
	c.perNode = c.Size()
	if c.p.cfg.Nodes == nil {
		return
	}
	members, most := map[int]int{}, 0
	for _, q := range c.group.Procs {
		node := c.p.cfg.Nodes[q]
		c.nodes = append(c.nodes, node)
		members[node]++
		most = max(most, members[node])
	}
	if len(members) == 1 {
		c.nodes = nil
	}
	c.perNode = most
}
