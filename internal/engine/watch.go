package engine

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/base/waitgraph"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/publish"
)

// stores keeps the stores of a dead process out of the memory that it shares with others: once any
// process knows of the death, no store may follow.
//
// Between processes, each process that learns of a death silences the dead before it reports the
// death (silence). Goroutine ranks run on when they are killed. Each of their stores is therefore
// made under a lock, and a killed rank is declared dead once that lock has been acquired.
type stores struct {
	opened  atomic.Bool // this process has such memory, or had
	lock    sync.RWMutex
	watches []*Watch // guarded by the mutex of the process
	blocked []*blocked
}

// A Reason tells of a wait for a report on a job that hangs.
type Reason = waitgraph.Reason

// blocked is a wait that sleeps.
type blocked struct {
	w *Watch
	Reason
}

// block enters a wait that is about to sleep in the list for reports.
func (s *stores) block(w *Watch, why Reason) *blocked {
	why.Ranks = slices.Clone(why.Ranks) // so that those of a wait that does not sleep need no memory
	b := &blocked{w, why}
	w.c.p.mu.Lock()
	defer w.c.p.mu.Unlock()
	s.blocked = append(s.blocked, b)
	return b
}

func (s *stores) unblock(b *blocked) {
	b.w.c.p.mu.Lock()
	defer b.w.c.p.mu.Unlock()
	s.blocked = slices.DeleteFunc(s.blocked, func(other *blocked) bool { return other == b })
}

// waiting describes a wait. The caller holds the mutex of the process.
func (b *blocked) waiting() Waiting {
	ranks := b.Ranks
	if b.Ask != nil {
		ranks = b.Ask()
	}
	w := Waiting{Op: b.Op, Comm: b.w.c.Name(), Ranks: ranks, Any: !b.All}
	if b.Ask == nil || len(ranks) > 0 {
		w.Procs = b.w.c.awaitedProcs(ranks)
	}
	return w
}

// fence waits until the stores of this process that are under way are made: none comes after that.
// The caller has fenced the process.
func (s *stores) fence() {
	if s.opened.Load() {
		s.lock.Lock()
		defer s.lock.Unlock()
	}
}

// silence returns when no thread of a process that has died stores anything into memory of this
// node any more. Where the kernel cannot ensure that, silence waits until the process was reaped. A
// process of another node stores nothing here, and nobody on this node reaps it.
func (s *stores) silence(p *Proc, proc int) {
	if !s.opened.Load() || p.others.isAway(proc) {
		return
	}
	s.stop(p, proc)
}

// stop is silence for a process of this node.
func (s *stores) stop(p *Proc, proc int) {
	if p.port == nil || !p.port.Processes() || publish.Silence() {
		return
	}
	for !p.node.HasEnded(proc) {
		runtime.Gosched()
	}
}

// mourn returns when no process of this node executes one-sided requests of a dead one any more,
// its servers that have died included (W7). Requests of a process that ended after Finalize still
// take effect.
func (s *stores) mourn(p *Proc, proc int) {
	if p.node.HasLeft(proc) {
		return
	}
	if pausepoint.Enabled {
		pausepoint.At("engine.mourn")
	}
	p.node.Mourn(proc, func(server int) { s.stop(p, server) })
}

// revoked lets a revocation reach the watchers of c. The caller has revoked c here.
func (s *stores) revoked(c *Comm) {
	for _, w := range slices.Clone(s.watches) {
		switch c {
		case w.parent:
			c.p.rules.step(control.Revoke{Comm: w.c.group.Index})
		case w.c:
			if !c.revocation.InMemory() {
				c.p.node.MoveEpoch() // the revocation came as a message: the epoch has not moved
			}
		}
	}
}

// A Watch is one member's view of the other members of a communicator while all use each other's
// memory directly: the live members, whether the communicator was revoked, and a way to sleep and
// to wake. Its methods may be called from any goroutine.
type Watch struct {
	c      *Comm
	parent *Comm // its revocation is also one of c
	node   *node.Node
	epoch  *uint64
	stores *stores       // nil: the operating system ends stores
	away   []bool        // by rank: its memory is not shared; nil: that of all is
	server Server        // of frames of those; nil: there is none
	gone   func()        // the watch was closed here: call gone when all have closed it
	served atomic.Uint64 // frames
	nobody group         // the group that napServing waits for
}

// NewWatch returns the Watch of c, which was made from parent, until Close. A revocation of parent
// that this process learns of revokes c. apart is true if no member reaches another one's memory,
// whether that could be shared or not.
func NewWatch(c, parent *Comm, apart bool) *Watch {
	p := c.p
	w := &Watch{c: c, parent: parent, node: p.node, epoch: p.node.EpochWord(), away: awayFrom(c, apart)}
	s := &p.memory.stores
	if p.port == nil || !p.port.Processes() {
		w.stores = s
	} else if !s.opened.Load() {
		publish.Silenceable() // if not, silence waits longer
	}
	s.opened.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	s.watches = append(s.watches, w)
	if parent.revoked {
		p.rules.step(control.Revoke{Comm: c.group.Index})
	}
	return w
}

// awayFrom returns for each member whether this one does not share its memory: members of other
// nodes, and all others where stores of a process that was declared dead could not be kept out.
func awayFrom(c *Comm, apart bool) (away []bool) {
	for rank := range c.Size() {
		if rank == c.Rank() || !apart && c.p.memory.shares && (c.nodes == nil || c.nodes[rank] == c.nodes[c.Rank()]) {
			continue
		}
		if away == nil {
			away = make([]bool, c.Size())
		}
		away[rank] = true
	}
	return away
}

// Close ends the Watch. The function gone is called when no other member uses this one's memory by
// way of this process any more: at once where all share memory, otherwise once all have freed the
// communicator.
func (w *Watch) Close(gone func()) {
	p := w.c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.memory.stores
	s.watches = slices.DeleteFunc(s.watches, func(other *Watch) bool { return other == w })
	if w.server == nil {
		gone()
		return
	}
	w.gone = gone
}

// Processes reports whether the members are processes, and not goroutines of one.
func (w *Watch) Processes() bool { return w.stores == nil }

// Epoch moves whenever the result of Look may have changed.
func (w *Watch) Epoch() uint64 { return atomic.LoadUint64(w.epoch) }

// A Sight is the knowledge of a member about the others.
type Sight struct {
	Epoch   uint64 // at the time of the call
	Dead    []int  // ranks, in order of learning
	Unacked []int  // those whose death is not acknowledged
	Revoked bool
	Err     error // why this process makes no more calls
}

// Look lets news of deaths and revocations take effect, and returns the result.
func (w *Watch) Look() Sight {
	p := w.c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	s := Sight{Epoch: w.Epoch()}
	if s.Err = p.alive(); s.Err == nil {
		p.progress()
		s.Err = p.alive() // the departure may be this process's own
	}
	if f := p.ctl.Failed(w.c.group.Index); f != nil {
		s.Dead = f.All()
		s.Unacked = s.Dead[min(len(f.Acked()), len(s.Dead)):]
	}
	s.Revoked = w.c.revoked
	return s
}

// Enter comes before accesses to others' memory, and Leave after them: nothing in between may
// wait. The error is ErrFenced if this process is dead; then there is no Leave.
func (w *Watch) Enter() error {
	if w.stores == nil {
		return nil
	}
	w.stores.lock.RLock()
	if w.c.p.fenced.Load() {
		w.stores.lock.RUnlock()
		return ErrFenced
	}
	return nil
}

// Leave ends the access that a successful Enter has begun.
func (w *Watch) Leave() {
	if w.stores != nil {
		w.stores.lock.RUnlock()
	}
}

// HasDeparted reports whether a member's process has ended, known or not: no earlier Look is
// needed. The process is silenced only when Silence has returned.
func (w *Watch) HasDeparted(rank int) bool {
	_, departed := w.node.HasDeparted(w.c.group.Procs[rank])
	return departed
}

// Silence returns when nothing that a member which has departed stores is still on its way.
func (w *Watch) Silence(rank int) { w.c.p.memory.stores.silence(w.c.p, w.c.group.Procs[rank]) }

// Yield lets another process or goroutine run.
func (w *Watch) Yield() { w.node.Yield() }

// Wake wakes all callers that Await something at a bell.
func (w *Watch) Wake(bell *uint32) { w.node.RingOn(bell, park.Caller) }

// napMax is how long a wait sleeps at a time: the awaited value may have been stored by a process
// that rings no bell, or that died before.
const napMax = mono.Duration(time.Millisecond)

// Await returns when done returns true, once. Await calls done repeatedly, and sleeps in between at
// a bell of this process, for a millisecond at most; others Wake it when the result may have
// changed. A report on a job that hangs gives the reason of the wait.
func (w *Watch) Await(bell *uint32, why Reason, done func() bool) {
	for polls := 0; ; polls++ {
		if done() {
			return
		}
		switch {
		case w.c.p.cfg.YieldPolls > 0 && polls < w.c.p.cfg.YieldPolls:
			w.node.Yield()
		case polls < w.c.p.cfg.SpinPolls:
			park.Pause(1)
		default:
			w.sleep(bell, why, done)
			return
		}
		if w.away != nil && polls&15 == 15 {
			w.Poll()
		}
	}
}

// sleep is Await without polls. A wait that the first nap does not end is listed for reports.
func (w *Watch) sleep(bell *uint32, why Reason, done func() bool) {
	if w.napOnce(bell, done) {
		return
	}
	b := w.c.p.memory.stores.block(w, why)
	for !w.napOnce(bell, done) {
	}
	w.c.p.memory.stores.unblock(b)
}

// napOnce sleeps once unless done returns true, and reports whether the wait is over.
func (w *Watch) napOnce(bell *uint32, done func() bool) (over bool) {
	served := w.served.Load()
	switch {
	case done():
		return true
	case w.away != nil:
		return w.napServing(bell, done, served)
	}
	w.c.p.others.writeAllOut()
	return w.nap(bell, done)
}

// nap sleeps at a bell unless done returns true, and returns the result of done.
func (w *Watch) nap(bell *uint32, done func() bool) (over bool) {
	ready := func() bool {
		over = done()
		return over
	}
	w.node.SleepOn(bell, park.Caller, ready, napMax)
	return over
}
