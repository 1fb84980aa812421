package engine

import (
	"context"
	"slices"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// betweenNodes is a link that also leads to processes of other nodes, over connections. Bytes sent
// there are kept until the receiver has taken them.
type betweenNodes interface {
	// Near returns the link to the processes of this node.
	Near() *transport.Port
	// Away returns for each slot whether its process is on another node: Watch has no word for such
	// a process, and Peek is a system call.
	Away() []bool
	// PutBack makes NextControl return its last frame once more.
	PutBack(proc int)
	// WriteOut writes at once the frames for a process of another node that would otherwise have
	// waited for this process's next poll, to be written together with later ones. For a process of
	// this node there are none.
	WriteOut(proc int)
	// WriteAllOut is WriteOut for all processes.
	WriteAllOut()
	// Part begins to take leave of all processes of other nodes: nothing is sent any more.
	Part()
	// Parted reports whether they have let go: everything was taken on both sides. The function
	// gone reports whether a process has departed.
	Parted(gone func(proc int) bool) bool
	// Describe returns the state of the connections for a report, a line each.
	Describe() []string
}

// others are the processes of other nodes, as this one sees them; nil where there are none.
type others struct {
	p    *Proc
	link betweenNodes
	away []bool // by slot: its process is on another node
}

// writeAllOut writes all frames for processes of other nodes: the caller is about to wait for
// something other than progress.
func (o *others) writeAllOut() {
	if o == nil {
		return
	}
	o.p.mu.Lock()
	o.link.WriteAllOut()
	o.p.mu.Unlock()
}

// isAway reports whether a process is on another node.
func (o *others) isAway(proc int) bool { return o != nil && o.away[proc] }

// isNear reports whether processes are all on this node.
func (o *others) isNear(procs []int) bool { return o == nil || !slices.ContainsFunc(procs, o.isAway) }

// near returns the link to a process of this node, or nil if the process is on another node or the
// transport has no port.
func (p *Proc) near(proc int) *transport.Port {
	if p.others.isAway(proc) {
		return nil
	}
	return p.port
}

// isAsked reports whether something needs attention that does not come from the process except. A
// caller that waits for a word in memory checks the memory of its peers at every 16th poll, and
// sockets, with a system call, at every 256th.
func (ld *leadership) isAsked(looks, except int) bool {
	p := ld.p
	return looks&15 == 0 && p.port.Pending(except) || p.others != nil && looks&255 == 0 && p.link.Pending(except)
}

// part waits until the processes of other nodes have taken everything that this one has sent, and
// have no more to send. A process that ends before that may lose its last frames, since the kernel
// resets a connection that is closed with input unread. The background loop is over, or leads; the
// caller takes turns with it.
func (o *others) part(ctx context.Context) error {
	if o == nil {
		return nil
	}
	p := o.p
	p.mu.Lock()
	o.link.Part()
	r := p.newRequest(callRequest, p.world, "finalize")
	p.ending.parting = r
	o.checkParted()
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
func (o *others) checkParted() {
	if o == nil || o.p.ending.parting == nil {
		return
	}
	if o.link.Parted(func(proc int) bool {
		_, departed := o.p.node.HasDeparted(proc)
		return departed
	}) {
		o.p.complete(o.p.ending.parting, nil)
	}
}

// Node returns the number of the node on which this process runs.
func (p *Proc) Node() int {
	if p.cfg.Nodes == nil {
		return 0
	}
	return p.cfg.Nodes[p.me]
}

// Nodes returns the members' nodes by rank, read only; nil if all are on one. The result is the
// same at all members, and so is that of PerNode.
func (c *Comm) Nodes() []int { return c.nodes }

// PerNode returns how many members are on the node that has most of them.
func (c *Comm) PerNode() int { return c.perNode }

// findNodes determines the nodes of the members.
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
