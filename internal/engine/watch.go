package engine

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/publish"
)

// stores is what keeps the stores of a dead process out of the memory that it shares with
// others: once anybody knows of the death none is to come any more.
//
// Between processes each that learns of a death silences the dead before it says so (silence).
// Goroutine ranks run on when they are killed; so each store of theirs is made under a lock, and
// the killed is declared dead when it has got that.
type stores struct {
	opened  atomic.Bool // this process has such memory, or had
	lock    sync.RWMutex
	watches []*Watch // guarded by the mutex of the process
}

// fence waits until the stores of this process that are under way are made: none comes after
// that. It is called when the process has been fenced.
func (s *stores) fence() {
	if s.opened.Load() {
		s.lock.Lock()
		defer s.lock.Unlock()
	}
}

// silence returns when no thread of a process that has died stores anything into memory of this
// node any more. Where the kernel cannot tell it waits until the process was reaped. A process of
// another node stores nothing here, and nobody on this node reaps it.
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

// revoked has a revocation reach those who watch c. It is called when c has been revoked here.
func (s *stores) revoked(c *Comm) {
	for _, w := range slices.Clone(s.watches) {
		switch c {
		case w.parent:
			c.p.rules.step(control.Revoke{Comm: w.c.group.Index})
		case w.c:
			if c.revocation.word == nil {
				c.p.node.MoveEpoch() // it came as a message: nobody has moved it
			}
		}
	}
}

// A Watch is what one member of a communicator sees of the others while all use each other's
// memory directly: who lives, whether the communicator was revoked, and a way to sleep and to
// wake. Its methods may be called from any goroutine.
type Watch struct {
	c      *Comm
	parent *Comm // its revocation is also one of c
	node   *node.Node
	epoch  *uint64
	stores *stores       // nil: the operating system ends stores
	away   []bool        // by rank: its memory is not shared; nil: that of all is
	server Server        // of frames of those; nil: there is none
	gone   func()        // it was closed here: what to do when it is by all
	served atomic.Uint64 // frames
	nobody group         // whom napServing waits for
}

// NewWatch returns the Watch of c, which was made from parent, until Close. A revocation of parent
// that this process hears of revokes c. Apart says that no member reaches another one's memory,
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

// awayFrom says of each member whether this one does not share its memory: those of other nodes,
// and all others where what a process stores after it was declared dead could not be kept out.
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

// Close ends what NewWatch has begun. Gone is called when no other member uses this one's memory by
// way of this process any more: at once where all share memory, else once all have freed the
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

// Processes says whether the members are processes, and not goroutines of one.
func (w *Watch) Processes() bool { return w.stores == nil }

// Epoch moves whenever what Look returns may have changed.
func (w *Watch) Epoch() uint64 { return atomic.LoadUint64(w.epoch) }

// A Sight is what a member knows of the others.
type Sight struct {
	Epoch   uint64 // when it looked
	Dead    []int  // ranks, in order of learning
	Unacked []int  // those of them whose death is not acknowledged
	Revoked bool
	Err     error // why this process makes no more calls
}

// Look lets news of deaths and revocations take effect, and returns what is known.
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

// Leave ends what a successful Enter has begun.
func (w *Watch) Leave() {
	if w.stores != nil {
		w.stores.lock.RUnlock()
	}
}

// HasDeparted says whether a member's process has ended, known or not: nobody has to look first.
// Silenced it is when Silence has returned.
func (w *Watch) HasDeparted(rank int) bool {
	_, departed := w.node.HasDeparted(w.c.group.Procs[rank])
	return departed
}

// Silence returns when nothing that a member which has departed stores is still on its way.
func (w *Watch) Silence(rank int) { w.c.p.memory.stores.silence(w.c.p, w.c.group.Procs[rank]) }

// Yield lets another process or goroutine run.
func (w *Watch) Yield() { w.node.Yield() }

// Wake wakes all who Await something at a bell.
func (w *Watch) Wake(bell *uint32) { w.node.RingOn(bell, park.Caller) }

// napMax is how long a wait sleeps at a time: what it waits for may have been stored by somebody
// who rings no bell, or who died before.
const napMax = mono.Duration(time.Millisecond)

// Await returns when done says true, once. It asks again and again, and sleeps between at a bell of
// this process, for a millisecond at most; others Wake it when there may be something.
func (w *Watch) Await(bell *uint32, done func() bool) {
	for polls := 0; ; polls++ {
		served := w.served.Load()
		if done() {
			return
		}
		switch {
		case w.c.p.cfg.YieldPolls > 0 && polls < w.c.p.cfg.YieldPolls:
			w.node.Yield()
		case polls < w.c.p.cfg.SpinPolls:
			park.Pause(1)
		case w.away != nil:
			if w.napServing(bell, done, served) {
				return
			}
			continue
		default:
			w.c.p.others.writeAllOut()
			if w.nap(bell, done) {
				return
			}
			continue
		}
		if w.away != nil && polls&15 == 15 {
			w.Poll()
		}
	}
}

// nap sleeps at a bell unless done says true, and returns what it said.
func (w *Watch) nap(bell *uint32, done func() bool) (over bool) {
	ready := func() bool {
		over = done()
		return over
	}
	w.node.SleepOn(bell, park.Caller, ready, napMax)
	return over
}
