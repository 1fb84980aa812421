package node

import "github.com/goulfm/goulfm/internal/shm/segment"

// The gate closes the time between the check that an origin lives and the effects of its requests.
// A server executes requests of an origin with which the server shares no memory. Between the
// server's check and its last store the server may lose its processor for longer than detection and
// repair take:
//
//	server                           another process of the node
//	checks: the origin lives
//	                                 learns of the origin's death, mends what it left
//	executes the origin's request: the repair is overwritten
//
// So the server publishes the origin that it serves before the check. A process that learns of a
// death publishes the death before it checks the servers. Both stores are full fences. Either the
// server sees that the origin is mourned and drops the request, or the process sees the server and
// waits until the request has taken effect. Then the request took effect before any process knew of
// the death (W7).

// words are the words of the node's memory that the gate reads and writes. Every write is a full
// fence.
type words interface {
	SetServing(server, origin int)     // only the server calls this; -1: no origin
	IsServing(server, origin int) bool // whether server executes a request of origin
	Mourn(proc int)                    // a process of the node knows that proc is dead
	IsMourned(proc int) bool
	HasDied(proc int) bool    // the daemon has published proc's death
	HasStopped(proc int) bool // proc has ended, whether or not the daemon has published the end
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

// Admit begins the execution of a request of an origin in this process. Dismiss ends the execution.
// Admit reports false if a process of this node may know that the origin is dead; the caller then
// drops the request and must not call Dismiss.
func (n *Node) Admit(origin int) bool { return admit(inSegment{n.seg}, n.me, origin) }

// Dismiss ends the execution that a successful Admit has begun.
func (n *Node) Dismiss() { n.seg.SetServing(n.me, -1) }

// BeginServing announces that this process serves windows, before its first Admit.
func (n *Node) BeginServing() { n.seg.SetServed() }

// MarkDead makes every server of this node drop the requests of a process from now on. It does not
// wait for requests in execution: the caller reads no memory but its own.
func (n *Node) MarkDead(proc int) { n.seg.Mourn(proc) }

// Mourn records that this process knows of a death, and returns when no living process of this node
// executes a request of the dead process any more. The caller must not act on the death before
// Mourn returns. Mourn waits for a server that has lost its processor, never for a server that has
// died. For a dead server Mourn calls ended, which must return when no thread of the server stores
// anything any more. The caller executes no request, so no two callers wait for each other.
func (n *Node) Mourn(dead int, ended func(server int)) {
	procs := n.seg.Started()
	if n.seg.Mourn(dead); !n.seg.IsServed() {
		procs = 0
	}
	mourn(inSegment{n.seg}, n.me, dead, procs, n.Yield, ended)
}
