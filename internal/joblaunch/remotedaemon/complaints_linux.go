package remotedaemon

import (
	"sync"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
)

// Complaints counts the lanes of this node's processes that cannot be dialed, by the node of their
// peers. The membership learns of the first lane to a node and of the end of the last one: if two
// living nodes complain of each other for --link-timeout, the coordinator declares one of them.
type complaints struct {
	mu          sync.Mutex
	own         int   // this node
	nodes       []int // by slot: its node
	lanes       map[lane]bool
	count       map[int]int // by node: lanes to it
	unreachable func(node int, so bool)
}

// A lane is one between a process of this node and the process of a slot.
type lane struct{ proc, slot, class int }

// hear notes the report of a process of this node.
func (c *complaints) hear(proc int, m rankproto.Unmet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := lane{proc, m.Proc, m.Lane}
	switch {
	case m.Proc >= len(c.nodes) || c.nodes[m.Proc] == c.own || c.lanes[l] != m.Over:
		// no lane between nodes, or a repetition
	case m.Over:
		c.remove(l)
	default:
		c.lanes[l] = true
		node := c.nodes[l.slot]
		if c.count[node]++; c.count[node] == 1 {
			c.unreachable(node, true)
		}
	}
}

// forget notes that a process of this node has ended.
func (c *complaints) forget(proc int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.lanes {
		if l.proc == proc {
			c.remove(l)
		}
	}
}

// remove removes a lane. The caller holds mu.
func (c *complaints) remove(l lane) {
	delete(c.lanes, l)
	node := c.nodes[l.slot]
	if c.count[node]--; c.count[node] == 0 {
		c.unreachable(node, false)
	}
}
