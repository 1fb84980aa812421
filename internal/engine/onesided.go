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
// reach a target's memory sends it frames, which the target's engine hands to the window as they
// arrive, independently of the target's program.
//
// Such frames are of a class of their own, are never matched and never kept: taking them from a
// ring executes them. They therefore need no credit, and there is no announcement: without room the
// origin waits. An answer carries the handle of the waiting request.
type oneSided struct {
	p       *Proc
	serving []*Watch // with a Server
	answer  []byte   // room for a frame that is sent at once
}

// A Server executes requests of other members on this one's memory. It is called with the lock of
// the process held. A Server never waits, and calls only Answer and IsDead of its Watch. The result
// waits is true if Look is to be called again although no frame arrives.
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

// pollAgain is the time after which a process that serves a window checks whether the memory that
// an origin waits for has changed: a process that changes it may die before it sends the notice.
const pollAgain = mono.Millisecond

func (os *oneSided) progress() (did bool) {
	waits := false
	for _, w := range os.serving {
		waits = w.server.Look() || waits
	}
	os.p.busy.set(servesOneSided, waits)
	return !waits
}

func (os *oneSided) attention() bool { return false } // sleeps are short meanwhile: pollAgain

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

// send publishes a frame, or queues it and returns the request that ends when the frame is out. mu
// is held.
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

// forget ends the service of a window after all members have freed its communicator.
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

// Away returns for each rank whether its memory is out of this member's reach; nil: all are in
// reach. Read only.
func (w *Watch) Away() []bool { return w.away }

// IsNear reports whether a member is another process of this node: its memory can be read through
// the kernel.
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
	p.loop.drowsy = true // the loop may wait with its former, longer tick
	p.loop.hurryUp()
}

// Admit begins the execution of a member's request, and Dismiss ends it: see node.Node.Admit. If
// the member is known to be dead, Admit returns false and no Dismiss follows: no request of the
// dead may take effect any more (W7). They are for Servers.
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

// Dismiss ends the execution that Admit has begun.
func (w *Watch) Dismiss() { w.node.Dismiss() }

// MarkDead keeps requests of a member from taking effect on this node, because another member knows
// that it is dead. Only Servers call MarkDead.
func (w *Watch) MarkDead(rank int) { w.node.MarkDead(w.c.group.Procs[rank]) }

// IsDead reports whether a member is known to be dead. Only Servers call IsDead.
func (w *Watch) IsDead(rank int) bool { return w.c.p.isDead(w.c.group.Procs[rank]) }

// Answer sends the answer to a frame, under the frame's handle. Only Servers call Answer.
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

// mayAsk returns why no frame may be sent to a member, or nil. mu is held.
func (w *Watch) mayAsk(to int) error {
	return w.c.mayStart(context.Background(), ulfm.OpSend, PointToPoint, w.c.group.Procs[to])
}

// Tell sends a frame that has no answer. Tell returns when frame may be reused, and waits for room
// if necessary. The error is ErrProcFailed when the member is known to be dead, or dies before
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
		// Another goroutine may lead, and sleep: it would not write frames that wait to be
		// gathered.
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

// Stir makes a member that serves its window poll the words that origins wait for.
func (w *Watch) Stir(rank int) {
	w.node.Notify(w.c.group.Procs[rank], park.Caller|park.Background)
}

// Poll lets everything that has arrived take effect, unless another goroutine does that just now.
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

// napServing is nap for a caller that waits for the effect of frames of others: it makes progress,
// and sleeps as the leader. Served is the number of executed frames at the caller's last check. The
// condition may send requests to other members, so it is not evaluated here: the leader would wait
// for itself.
func (w *Watch) napServing(bell *uint32, done func() bool, served uint64) (over bool) {
	p := w.c.p
	p.mu.Lock()
	if !p.leads.take(caller) {
		p.mu.Unlock()
		return w.nap(bell, done) // another call makes progress
	}
	p.leads.leading = leading{g: &w.nobody, src: -1}
	p.leads.pollLocked()
	p.mu.Unlock()
	p.leads.sleep(park.Caller, func() bool {
		return w.served.Load() != served || p.link.Pending(-1) || p.node.Epoch() != p.epochSeen.Load() || p.needsService() || p.leads.wanted.Load() > 0
	}, napMax)
	p.leads.poll()
	p.leads.leave()
	return false
}
