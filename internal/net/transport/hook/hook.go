package hook

import (
	"slices"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// heldMax is the number of held frames towards one peer per class.
const heldMax = 64

// New wraps inner with a plan, which may be nil.
func New(inner transport.End, plan *Plan) transport.End {
	if plan == nil {
		plan = &Plan{}
	}
	plan.attach(inner.Node)
	return transport.End{Node: inner.Node, Link: &hook{Link: inner.Link, node: inner.Node, plan: plan, peers: make([]peer, inner.Node.Procs())}}
}

// hook belongs to one goroutine at a time, like every link. Pending uses only the atomics of the
// plan.
type hook struct {
	transport.Link
	node   *node.Node
	plan   *Plan
	peers  []peer
	calls  uint64
	killed bool
}

type peer struct {
	held   [2][]held // towards the peer, by class
	hidden [2]hidden // from the peer, by class
	closed [2]bool   // by class
	begun  bool      // a part of the current control frame has passed
	wants  bool      // the caller waits for room
	asked  bool      // the hook waits for room, for held frames
	peeked Event     // of the data frame that Peek returned last
	shown  bool      // that frame was not taken by Advance yet
}

// A held frame was accepted and is not yet sent.
type held struct {
	due     uint64 // the first call that may send the frame
	header  transport.Header
	payload []byte // of data, or a control frame
	sent    int    // bytes of a control frame
}

// hidden is the next frame from a peer while a delay hides the frame.
type hidden struct {
	found bool
	shown bool // its delay is over
	due   uint64
	frame []byte // a control frame that the inner transport has returned
}

// tick counts a call and sends the held frames that are due.
func (h *hook) tick() {
	h.calls++
	if h.plan.holding.Load() > 0 {
		h.flush()
	}
}

// killPoint kills the process if the next frame to send or take is the KillAt-th.
func (h *hook) killPoint() {
	if !h.killed && h.plan.KillAt > 0 && h.plan.Moved()+1 == h.plan.KillAt {
		h.killed = true
		h.plan.Kill()
	}
}

// Take adds the peers whose frames are hidden, because the inner Take has cleared their bits.
func (h *hook) Take(c transport.Class, dst []int) []int {
	h.tick()
	old := len(dst)
	dst = h.Link.Take(c, dst)
	if h.plan.holding.Load() == 0 {
		return dst
	}
	for q := range h.peers {
		if s := &h.peers[q].hidden[c]; s.found && !s.shown && !slices.Contains(dst[old:], q) {
			dst = append(dst, q)
		}
	}
	return dst
}

// Pending is true while a frame is held or hidden, so that no goroutine sleeps then.
func (h *hook) Pending(except int) bool {
	return h.plan.holding.Load() > 0 || h.Link.Pending(except)
}

// WantRoom passes the caller's request on, unless the hook itself waits for room.
func (h *hook) WantRoom(to int, want bool) {
	q := &h.peers[to]
	q.wants = want
	h.Link.WantRoom(to, want || q.asked)
}

// CloseControl also drops held and hidden frames.
func (h *hook) CloseControl(proc int) {
	h.forget(proc, transport.Control)
	h.Link.CloseControl(proc)
}

// CloseData also drops held and hidden frames.
func (h *hook) CloseData(proc int) {
	h.forget(proc, transport.Data)
	h.Link.CloseData(proc)
}

// CloseAll also drops held and hidden frames.
func (h *hook) CloseAll() {
	for proc := range h.peers {
		h.forget(proc, transport.Control)
		h.forget(proc, transport.Data)
	}
	h.Link.CloseAll()
}

// keep counts a frame that is held or hidden from now on. It wakes the background loop, because the
// caller may make no further call.
func (h *hook) keep() {
	h.plan.holding.Add(1)
	h.node.Notify(h.node.Me(), park.Background)
}

func (h *hook) forget(proc int, c transport.Class) {
	q := &h.peers[proc]
	h.plan.holding.Add(-int64(len(q.held[c])))
	q.held[c], q.closed[c] = nil, true
	h.clear(&q.hidden[c])
}
