package hook

import (
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// A Plan describes the faults of one process's transport, and counts and traces its frames. The
// zero value lets all frames pass.
type Plan struct {
	// Trace, if not nil, is called for each frame, by the goroutine that sends or reads. It must
	// not call the transport.
	Trace func(Event)
	// Kill is called once, before the KillAt-th frame (1 is the first) is sent or taken. The number
	// counts both and both classes. Kill should not return; if it does, the transport continues.
	Kill   func()
	KillAt uint64

	node    *node.Node
	links   []link
	moved   atomic.Uint64
	holding atomic.Int64 // number of held or hidden frames
}

// Dir is a direction as seen by this process.
type Dir int

// Directions.
const (
	Towards Dir = iota // from this process to the peer
	From               // from the peer to this process
)

// An Event reports the fate of one frame.
type Event struct {
	Dir    Dir
	Peer   int
	Class  transport.Class
	Fate   Fate
	Header transport.Header // of a data frame
	Bytes  int              // payload of a data frame, length of a control frame
}

// A Fate is the outcome of an attempt to send or read a frame.
type Fate int

// Fates. A held frame has one more fate later.
const (
	Passed  Fate = iota // given to the transport, or to the reader
	Held                // held back by a delay
	Dropped             // lost to a cut, or sent to a closed process
	Refused             // answered with "no room", for the whole frame or its rest
	fates
)

// A Count holds the number of frames of one peer, direction and class with a fate, and the sum of
// their bytes, as in Event.
type Count struct{ Frames, Bytes uint64 }

// link holds the faults and counts of one peer. Its fields are atomic because other goroutines call
// the Plan's methods.
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

// Delay holds each frame in a direction back for a number of calls after the frame was sent, or
// found. 0 ends the delay for later frames.
func (p *Plan) Delay(d Dir, peer int, calls uint64) { p.links[peer].delay[d].Store(calls) }

// Stall answers every frame towards a peer with "no room" until Release.
func (p *Plan) Stall(peer int) { p.links[peer].stalled.Store(true) }

// Release ends Stall and wakes the process, because there may be room.
func (p *Plan) Release(peer int) {
	p.links[peer].stalled.Store(false)
	p.node.Notify(p.node.Me(), park.Caller|park.Background)
}

// Cut drops frames in a direction until Mend: frames that this process sends, and frames that it
// finds when it reads.
func (p *Plan) Cut(d Dir, peer int) { p.links[peer].cut[d].Store(true) }

// Mend ends Cut. Dropped frames stay lost.
func (p *Plan) Mend(d Dir, peer int) { p.links[peer].cut[d].Store(false) }

// Count returns the count of a fate.
func (p *Plan) Count(d Dir, peer int, c transport.Class, f Fate) Count {
	n := &p.links[peer].counts[d][c][f]
	return Count{Frames: n.frames.Load(), Bytes: n.bytes.Load()}
}

// Moved returns the number of frames sent and taken so far, the numbers that KillAt counts.
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
