package engine

import "context"

// betweenNodes is a link that leads to processes of other nodes, too, over connections: what is
// sent there is kept until the receiver has taken it.
type betweenNodes interface {
	// IsRemote says whether a process is on another node: Watch has no word for it, and Peek
	// asks the kernel.
	IsRemote(proc int) bool
	// Part begins to take leave of all processes of other nodes: nothing is sent any more.
	Part()
	// Parted says whether they have let go: all was taken on both sides. Gone says of a process
	// that it has departed.
	Parted(gone func(proc int) bool) bool
	// Describe says for people how the connections stand, a line each.
	Describe() []string
}

// part waits until the processes of other nodes have taken what this one has sent, and have no
// more to send: a process that ends before that may take along what it has sent last, since the
// kernel resets a connection that is closed with input unread. The background loop is over, or
// leads; who asks takes turns with it.
func (p *Proc) part(ctx context.Context) error {
	if p.nodes == nil {
		return nil
	}
	p.mu.Lock()
	p.nodes.Part()
	r := p.newRequest(callRequest, p.world, "finalize")
	p.ending.parting = r
	p.checkParted()
	p.mu.Unlock()
	err := p.leads.await(ctx, &r.own)
	p.mu.Lock()
	p.ending.parting = nil
	p.complete(r, nil)
	p.free(r)
	p.mu.Unlock()
	return err
}

// checkParted ends the wait of part when it is over.
func (p *Proc) checkParted() {
	if r := p.ending.parting; r != nil && p.nodes.Parted(func(proc int) bool {
		_, departed := p.node.HasDeparted(proc)
		return departed
	}) {
		p.complete(r, nil)
	}
}

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
