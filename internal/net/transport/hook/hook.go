package hook

import (
	"slices"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// heldMax is how many frames towards one peer are held per class.
const heldMax = 64

// New returns inner as the plan, which may be nil, has it.
func New(inner transport.End, plan *Plan) transport.End {
	if plan == nil {
		plan = &Plan{}
	}
	plan.attach(inner.Node)
	return transport.End{Node: inner.Node, Link: &hook{Link: inner.Link, node: inner.Node, plan: plan, peers: make([]peer, inner.Node.Procs())}}
}

// hook belongs, as every link, to one goroutine at a time; Pending touches the plan's atomics
// only.
type hook struct {
	transport.Link
	node   *node.Node
	plan   *Plan
	peers  []peer
	calls  uint64
	killed bool
}

type peer struct {
	held   [2][]held // towards it, by class
	hidden [2]hidden // from it, by class
	closed [2]bool   // by class
	begun  bool      // the control frame under way has passed in part
	wants  bool      // the caller waits for room
	asked  bool      // the hook does, for what it holds
	peeked Event     // of the data frame that Peek returned last
	shown  bool      // and Advance did not take yet
}

// A held frame was accepted and is not yet sent.
type held struct {
	due     uint64 // call from which on it may be sent
	header  transport.Header
	payload []byte // of data, or a control frame
	sent    int    // bytes of a control frame
}

// hidden is the next frame from a peer while a delay hides it.
type hidden struct {
	found bool
	shown bool // its delay is over
	due   uint64
	frame []byte // a control frame that the inner transport gave out
}

// tick counts a call and sends what is due.
func (h *hook) tick() {
	h.calls++
	if h.plan.holding.Load() > 0 {
		h.flush()
	}
}

// killPoint is passed before a frame is sent or taken.
func (h *hook) killPoint() {
	if !h.killed && h.plan.KillAt > 0 && h.plan.Moved()+1 == h.plan.KillAt {
		h.killed = true
		h.plan.Kill()
	}
}

// Take adds the peers whose frames are hidden: their bits are gone.
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

// Pending is true while anything is held or hidden, so that nobody sleeps then.
func (h *hook) Pending(except int) bool {
	return h.plan.holding.Load() > 0 || h.Link.Pending(except)
}

// WantRoom passes the caller's wish on, unless the hook has one of its own.
func (h *hook) WantRoom(to int, want bool) {
	q := &h.peers[to]
	q.wants = want
	h.Link.WantRoom(to, want || q.asked)
}

// CloseControl forgets what is held and hidden, too.
func (h *hook) CloseControl(proc int) {
	h.forget(proc, transport.Control)
	h.Link.CloseControl(proc)
}

// CloseData forgets what is held and hidden, too.
func (h *hook) CloseData(proc int) {
	h.forget(proc, transport.Data)
	h.Link.CloseData(proc)
}

// CloseAll forgets what is held and hidden, too.
func (h *hook) CloseAll() {
	for proc := range h.peers {
		h.forget(proc, transport.Control)
		h.forget(proc, transport.Data)
	}
	h.Link.CloseAll()
}

// keep counts a frame that is held or hidden from now on. The background loop may
// be asleep, and nobody else may call.
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
