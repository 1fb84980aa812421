package hook

import (
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// A Plan says what goes wrong on one process's transport, and tells what went
// over it. The zero value lets everything through.
type Plan struct {
	// Trace, if not nil, is told of each frame, by the goroutine that sends or
	// reads. It must not call the transport.
	Trace func(Event)
	// Kill is called once, before the KillAt-th frame (1 is the first) is sent or
	// taken, counting both and both classes. It is meant not to return; if it
	// does, everything goes on.
	Kill   func()
	KillAt uint64

	node    *node.Node
	links   []link
	moved   atomic.Uint64
	holding atomic.Int64 // frames that are held or hidden
}

// Dir is a direction as this process sees it.
type Dir int

// Directions.
const (
	Towards Dir = iota // from this process to the peer
	From               // from the peer to this process
)

// An Event is something that happened to one frame.
type Event struct {
	Dir    Dir
	Peer   int
	Class  transport.Class
	Fate   Fate
	Header transport.Header // of a data frame
	Bytes  int              // payload of a data frame, length of a control frame
}

// Fate is what became of a frame.
type Fate int

// Fates. A held frame meets one more fate later.
const (
	Passed  Fate = iota // handed to the transport, or to the reader
	Held                // kept back by a delay
	Dropped             // lost to a cut, or sent to a process that is closed
	Refused             // answered with "no room", whole or the rest of it
	fates
)

// Count says how often frames of one peer, direction and class met a fate, and
// how many bytes they had, as in Event.
type Count struct{ Frames, Bytes uint64 }

// link is what the plan says and counts about one peer: shared with whoever
// calls the Plan's methods, hence atomic.
type link struct {
	cut     [2]atomic.Bool   // by Dir
	delay   [2]atomic.Uint64 // by Dir, in calls
	stalled atomic.Bool
	counts  [2][2][fates]struct{ frames, bytes atomic.Uint64 } // by Dir and class
}

func (p *Plan) attach(n *node.Node) {
	must.That(p.node == nil, "a hook.Plan serves one transport")
	must.That(p.KillAt == 0 || p.Kill != nil, "a hook.Plan with KillAt %d has no Kill", p.KillAt)
	p.node, p.links = n, make([]link, n.Procs())
}

// Delay holds each frame in a direction back for some calls from when it was
// sent, or found, on; 0 ends that for frames to come.
func (p *Plan) Delay(d Dir, peer int, calls uint64) { p.links[peer].delay[d].Store(calls) }

// Stall answers every frame towards a peer with "no room" until Release.
func (p *Plan) Stall(peer int) { p.links[peer].stalled.Store(true) }

// Release ends Stall and wakes the process: there may be room.
func (p *Plan) Release(peer int) {
	p.links[peer].stalled.Store(false)
	p.node.Notify(p.node.Me(), park.Caller|park.Background)
}

// Cut drops every frame in a direction until Mend: what is sent meanwhile, or
// what is there, or arrives, and is looked for meanwhile.
func (p *Plan) Cut(d Dir, peer int) { p.links[peer].cut[d].Store(true) }

// Mend ends Cut. What was dropped stays lost.
func (p *Plan) Mend(d Dir, peer int) { p.links[peer].cut[d].Store(false) }

// Count returns the count of a fate.
func (p *Plan) Count(d Dir, peer int, c transport.Class, f Fate) Count {
	n := &p.links[peer].counts[d][c][f]
	return Count{Frames: n.frames.Load(), Bytes: n.bytes.Load()}
}

// Moved returns how many frames were sent and taken so far: KillAt counts these.
func (p *Plan) Moved() uint64 { return p.moved.Load() }

// note counts and traces an event.
func (p *Plan) note(ev Event) {
	n := &p.links[ev.Peer].counts[ev.Dir][ev.Class][ev.Fate]
	n.frames.Add(1)
	n.bytes.Add(uint64(ev.Bytes))
	if ev.Fate == Passed {
		p.moved.Add(1)
	}
	if p.Trace != nil {
		p.Trace(ev)
	}
}
