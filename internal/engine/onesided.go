package engine

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/ulfm"
)

// oneSided is the service of windows whose members do not all share memory: an origin that does not
// reach a target's memory sends it frames, which the target's engine hands to the window when they
// come, whatever the target's program does.
//
// Such frames are of a class of their own, are never matched and never kept: who takes them from a
// ring has executed them. So they need no credit, and there is no announcement: without room the
// origin waits. An answer carries the handle of the request that waits for it.
type oneSided struct {
	p       *Proc
	serving []*Watch // with a Server
	answer  []byte   // room for a frame that is sent at once
}

// A Server executes what other members ask for on this one's memory. It is called with the lock of
// the process held: it neither waits nor calls anything but Answer and IsDead of its Watch. Waits
// says whether it wants to Look again though no frame comes.
type Server interface {
	Serve(from int, frame []byte) (waits bool, err error)
	Look() (waits bool)
	Died(rank int) (waits bool)
}

// The tags of frames of class OneSided.
const (
	asksTag int32 = iota
	answersTag
)

// oneSidedMax is how long a frame may be between nodes: a target's ring takes several, and other
// messages in between.
const oneSidedMax = 32<<10 + 64

// lookAgain is after how long a process that serves a window looks whether what one of its origins
// waits for has changed in memory: whoever changes it may die before it tells.
const lookAgain = mono.Millisecond

func (os *oneSided) progress() (did bool) {
	waits := false
	for _, w := range os.serving {
		waits = w.server.Look() || waits
	}
	os.p.busy.set(servesOneSided, waits)
	return !waits
}

func (os *oneSided) attention() bool { return false } // sleeps are short meanwhile: lookAgain

func (os *oneSided) peerDied(proc int) {
	for _, w := range os.p.memory.stores.watches {
		rank := w.c.RankOf(proc)
		if rank < 0 || w.away == nil {
			continue
		}
		if w.server != nil && w.server.Died(rank) {
			os.p.busy.set(servesOneSided, true)
		}
	}
}

func (os *oneSided) commEnded(*Comm) {}

func (os *oneSided) waitsFor(*Request) ([]int, bool) { return nil, false }

// arrive executes a frame, or ends the request that waited for it.
func (os *oneSided) arrive(from int, f *transport.Frame) {
	p := os.p
	c := p.commAt(f.Ctx / uint32(classes))
	if c == nil || p.isDead(from) {
		return
	}
	rank := c.RankOf(from)
	if rank < 0 {
		return
	}
	if f.Tag == answersTag {
		os.answered(from, f.Payload)
		return
	}
	w := os.of(c)
	if w == nil {
		return
	}
	waits, err := w.server.Serve(rank, f.Payload)
	w.served.Add(1)
	if err != nil {
		p.observe(Event{What: "anomaly", Procs: []int{from}, Text: err.Error()})
	}
	if waits {
		p.busy.set(servesOneSided, true)
	}
}

// answered ends the request whose handle an answer begins with.
func (os *oneSided) answered(from int, payload []byte) {
	if len(payload) < 8 {
		return
	}
	r := os.p.find(Handle(binary.LittleEndian.Uint64(payload)))
	if r == nil || r.kind != oneSidedRequest || r.peer != from || !r.active() {
		return // it was given up
	}
	r.status.Bytes = copy(r.buf, payload[8:])
	os.p.end(r, nil)
}

// send publishes a frame, or queues it: then it returns the request that ends when it is out. mu is
// held.
func (w *Watch) send(to int, tag int32, frame []byte, what string) *Request {
	p, proc := w.c.p, w.c.group.Procs[to]
	var h transport.Header
	h.Kind, h.Ctx, h.Tag, h.Size = transport.Eager, dataContext(w.c.group.Indices[to], OneSided), tag, len(frame)
	if len(p.peers.At(proc).pushes) == 0 && p.trySend(proc, &h, frame) {
		return nil
	}
	return p.queueSend(w.c, proc, h, frame, what)
}

// of returns the window that was made for a communicator, or nil.
func (os *oneSided) of(c *Comm) *Watch {
	for _, w := range os.serving {
		if w.c == c {
			return w
		}
	}
	return nil
}

// forget ends the service of a window whose communicator all have freed.
func (os *oneSided) forget(c *Comm) {
	w := os.of(c)
	if w == nil {
		return
	}
	os.serving = slices.DeleteFunc(os.serving, func(other *Watch) bool { return other == w })
	w.server = nil
	if w.gone != nil {
		w.gone()
	}
}

// Away says of each rank whether this member does not reach its memory; nil: it reaches all. Read
// only.
func (w *Watch) Away() []bool { return w.away }

// IsNear says whether a member is another process of this node: one whose memory the kernel may
// read for this one.
func (w *Watch) IsNear(rank int) bool {
	return w.Processes() && !w.c.p.others.isAway(w.c.group.Procs[rank])
}

// FrameMax returns how long a frame to a member, and its answer, may be.
func (w *Watch) FrameMax(to int) int {
	if w.c.p.others.isAway(w.c.group.Procs[to]) {
		return oneSidedMax
	}
	return transport.EagerMax
}

// Serve has a Server execute the frames of other members from now on. A frame that came before is
// lost.
func (w *Watch) Serve(s Server) {
	p := w.c.p
	w.node.BeginServing()
	p.mu.Lock()
	defer p.mu.Unlock()
	w.server = s
	os := &p.memory.oneSided
	os.serving = append(os.serving, w)
	p.loop.drowsy = true // whatever it waits for: its tick is another one now
	p.loop.hurryUp()
}

// Admit begins the execution of what a member asks for, and Dismiss ends it: see node.Node.Admit.
// It reports false, and then there is no Dismiss, if the member is known to be dead: nothing of it
// may take effect any more (W7). They are for Servers.
func (w *Watch) Admit(rank int) bool {
	p, proc := w.c.p, w.c.group.Procs[rank]
	if proc == p.me {
		return true
	}
	if p.isDead(proc) || !w.node.Admit(proc) {
		return false
	}
	if pausepoint.Enabled {
		pausepoint.At("engine.admitted")
	}
	return true
}

// Dismiss ends what Admit has begun.
func (w *Watch) Dismiss() { w.node.Dismiss() }

// MarkDead has nothing of a member take effect on this node any more, because another member knows
// that it is dead. It is for Servers.
func (w *Watch) MarkDead(rank int) { w.node.MarkDead(w.c.group.Procs[rank]) }

// IsDead says whether a member is known to be dead. It is for Servers.
func (w *Watch) IsDead(rank int) bool { return w.c.p.isDead(w.c.group.Procs[rank]) }

// Answer sends what a frame asked for, under the handle that it had. It is for Servers.
func (w *Watch) Answer(to int, handle uint64, data []byte) {
	p := w.c.p
	if p.alive() != nil || w.IsDead(to) {
		return
	}
	os := &p.memory.oneSided
	os.answer = append(binary.LittleEndian.AppendUint64(os.answer[:0], handle), data...)
	if pausepoint.Enabled {
		pausepoint.At("engine.answers")
	}
	r := w.send(to, answersTag, os.answer, "answer")
	if r != nil {
		r.detached, os.answer = true, nil // it waits with the frame
	} else if proc := w.c.group.Procs[to]; p.others.isAway(proc) {
		p.others.link.WriteOut(proc)
	}
}

// mayAsk says what is wrong with a frame to a member. mu is held.
func (w *Watch) mayAsk(to int) error {
	return w.c.mayStart(context.Background(), ulfm.OpSend, PointToPoint, w.c.group.Procs[to])
}

// Tell sends a frame that has no answer. It returns when frame is the caller's again: if there is
// no room it waits. The error is ErrProcFailed when the member is known to be dead, or dies before
// there is room.
func (w *Watch) Tell(ctx context.Context, to int, frame []byte) error {
	p := w.c.p
	p.mu.Lock()
	p.called()
	err := w.mayAsk(to)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	if pausepoint.Enabled {
		pausepoint.At("engine.tells")
	}
	r := w.send(to, asksTag, frame, "one-sided")
	p.loop.takeSend(w.c.group.Procs[to], r)
	p.mu.Unlock()
	if r == nil {
		return nil
	}
	return p.finishSend(ctx, r)
}

// Ask sends a frame and returns a request that ends when the answer is in answer. The first eight
// bytes of the frame are overwritten; it must not be changed before the request has ended. Every
// request is to be ended by Answered.
func (w *Watch) Ask(to int, frame, answer []byte) (Handle, error) {
	p := w.c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called()
	if err := w.mayAsk(to); err != nil {
		return 0, err
	}
	if pausepoint.Enabled {
		pausepoint.At("engine.asks")
	}
	r := p.newRequest(oneSidedRequest, w.c, "one-sided")
	r.peer, r.ctx, r.buf = w.c.group.Procs[to], dataContext(w.c.group.Indices[to], OneSided), answer
	binary.LittleEndian.PutUint64(frame, uint64(r.handle()))
	if s := w.send(to, asksTag, frame, "one-sided"); s != nil {
		s.detached = true
	}
	return r.handle(), nil
}

// Answered waits for the answer of an Ask, and returns its length. When ctx ends first the request
// is given up: the answer's slice is not touched any more.
func (w *Watch) Answered(ctx context.Context, h Handle) (n int, err error) {
	p := w.c.p
	p.mu.Lock()
	r := p.find(h)
	if p.others.isAway(r.peer) {
		// Another goroutine may lead, and sleep: it would not write what waits for more to go with.
		p.others.link.WriteOut(r.peer)
	}
	p.mu.Unlock()
	over := p.leads.await(ctx, &r.own)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.done() {
		p.complete(r, over)
	}
	n, err = r.status.Bytes, r.err
	p.free(r)
	return n, err
}

// Stir has a member that serves its window look again at what origins wait for.
func (w *Watch) Stir(rank int) {
	w.node.Notify(w.c.group.Procs[rank], park.Caller|park.Background)
}

// Poll lets what has come take effect, if nobody else does that just now.
func (w *Watch) Poll() {
	p := w.c.p
	if !p.mu.TryLock() {
		return
	}
	if p.leads.who == nobody && p.alive() == nil {
		p.progress()
	}
	p.mu.Unlock()
}

// napServing is nap for who waits for what frames of others bring: it makes progress, and sleeps as
// the leader. Served is how many frames had been executed when the caller last looked. What it
// waits for may ask other members, so it is not asked here: who leads would wait for itself.
func (w *Watch) napServing(bell *uint32, done func() bool, served uint64) (over bool) {
	p := w.c.p
	p.mu.Lock()
	if !p.leads.take(caller) {
		p.mu.Unlock()
		return w.nap(bell, done) // another call makes progress
	}
	p.leads.leading = leading{g: &w.nobody, src: -1}
	p.leads.lookLocked()
	p.mu.Unlock()
	p.leads.sleep(park.Caller, func() bool {
		return w.served.Load() != served || p.link.Pending(-1) || p.node.Epoch() != p.epochSeen.Load() || p.needsService() || p.leads.wanted.Load() > 0
	}, napMax)
	p.leads.look()
	p.leads.leave()
	return false
}
