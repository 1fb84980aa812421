package node

import "github.com/goulfm/goulfm/internal/shm/segment"

// The gate closes the time between the check that an origin lives and the effects of its requests.
// A server executes requests of an origin that shares no memory with it. Between the server's check
// and its last store the server may lose its processor for longer than detection and repair take:
//
//	server                           another process of the node
//	checks: the origin lives
//	                                 learns of the origin's death, mends what it left
//	executes the origin's request: the repair is overwritten
//
// So the server publishes the origin that it serves before the check, and a process that learns of
// a death publishes that before it looks at the servers. Both stores are full fences. Either the
// server sees that the origin is mourned and drops the request, or the process sees the server and
// waits until the request has taken effect. Then the request took effect before anybody knew of the
// death (W7).

// words is what the gate reads and writes in the memory of the node. Every write is a full fence.
type words interface {
	SetServing(server, origin int)     // server alone calls it; -1: it serves nobody
	IsServing(server, origin int) bool // whether server executes a request of origin
	Mourn(proc int)                    // a process of the node knows that proc is dead
	IsMourned(proc int) bool
	HasDied(proc int) bool    // the daemon has published proc's death
	HasStopped(proc int) bool // proc has ended, whether or not that was published
}

// admit is Admit of process me.
func admit(w words, me, origin int) bool {
	w.SetServing(me, origin)
	if !w.IsMourned(origin) && !w.HasDied(origin) {
		return true
	}
	w.SetServing(me, -1)
	return false
}

// mourn is Mourn of process me.
func mourn(w words, me, dead, procs int, yield func(), ended func(server int)) {
	w.Mourn(dead)
	for server := range procs {
		for server != me && w.IsServing(server, dead) {
			if w.HasStopped(server) {
				ended(server)
				break
			}
			yield()
		}
	}
}

// inSegment are the words in the memory of a node.
type inSegment struct{ *segment.Node }

func (w inSegment) HasDied(proc int) bool {
	why, departed := w.Departed(proc)
	return departed && why != segment.Retired
}

func (w inSegment) HasStopped(proc int) bool {
	if _, departed := w.Departed(proc); departed {
		return true
	}
	return segment.Load32(w.Tombstone(proc))&segment.TombstoneDied != 0
}

// Admit begins the execution of a request of an origin in this process, until Dismiss. It reports
// false, and there is no Dismiss, if any process of this node may know that the origin is dead: the
// request is dropped.
func (n *Node) Admit(origin int) bool { return admit(inSegment{n.seg}, n.me, origin) }

// Dismiss ends what a successful Admit has begun.
func (n *Node) Dismiss() { n.seg.SetServing(n.me, -1) }

// BeginServing announces that this process serves windows, before its first Admit.
func (n *Node) BeginServing() { n.seg.SetServed() }

// MarkDead has every server of this node drop the requests of a process from now on. It does not
// wait for those that are being executed: the caller reads no memory but its own.
func (n *Node) MarkDead(proc int) { n.seg.Mourn(proc) }

// Mourn records that this process knows of a death, and returns when no living process of this node
// executes a request of the dead any more. Nothing that depends on the death may be done before. It
// waits for the processor of a server, never for a server that has died: ended is called for such a
// server, and must return when no thread of it stores anything. The caller executes no request, so
// no two callers wait for each other.
func (n *Node) Mourn(dead int, ended func(server int)) {
	procs := n.seg.Started()
	if n.seg.Mourn(dead); !n.seg.IsServed() {
		procs = 0
	}
	mourn(inSegment{n.seg}, n.me, dead, procs, n.Yield, ended)
}
