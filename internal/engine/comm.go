package engine

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/turns"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/departure"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
	"github.com/goulfm/goulfm/internal/shm/nodemem"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/ulfm"
)

// Class separates the contexts of a communicator, so that collectives never match a message of the
// program.
type Class uint32

// Classes of data frames.
const (
	PointToPoint Class = iota
	Collective
	OneSided // not matched: see oneSided
	inOrder  // not matched: see inquiry
	classes  // a power of two

	matched = OneSided // the classes below it are
)

// A Comm is one communicator at one member. Its single responsibility is the state that decides
// which operation may start on the communicator, which operations are open, and which path each of
// them takes.
type Comm struct {
	p       *Proc
	group   commstate.Group
	rankOf  []int32         // by world process, as far as the last member; -1: not a member
	numbers []int           // of the processes, by rank; nil: they are the first ones in their slots
	gone    departure.Tally // of members
	sendsOn bool            // the frames sent now are of a collective that continues after a departure
	name    commstate.Name
	given   atomic.Pointer[string] // by SetName; nil: none
	revoked bool
	freed   bool
	closing bool          // world: finalize is under way
	calls   sched.Numbers // of collectives

	underWay int      // requests that are active: messages and collectives
	claims   []*Claim // messages that matched probes took and nobody has received yet

	nodes      []int       // by rank; nil: all members are on one
	perNode    int         // members on the node with most of them
	shared     bool        // revocations use memory, and so do collectives on one node
	refused    atomic.Bool // see ErrRefused
	revocation revocation
	mem        *[2]nodemem.Series // of agreements; nil: by messages
	coll       *nodecoll.Group    // of collectives in memory, once there was one
	turns      turns.Queue        // of collectives in memory
	collective *Request           // the one that is open and has to wait
	messages   bool               // in a collective that uses messages
	apart      *Differs           // in which another member is not
	schedules  []*Schedule        // collectives by messages that are open
	// an agree that was entered the fast way, and may have to take the long way
	plain     *Request
	plainCall commstate.Call
	plainFlag uint64
}

func (p *Proc) openComm(g commstate.Group, called string) *Comm {
	c := &Comm{p: p, group: g, name: commstate.NameOf(called), rankOf: make([]int32, slices.Max(g.Procs)+1), mem: p.memory.take(g.Index)}
	c.shared = p.memory.shares && p.others.isNear(g.Procs) && control.HasBlocks(g.Indices, segment.Blocks)
	c.findNodes()
	c.revocation = p.memory.revocationOf(c)
	c.gone = p.gone.early.Take(g.Index)
	for q := range c.rankOf {
		c.rankOf[q] = -1
	}
	for r, q := range g.Procs {
		c.rankOf[q] = int32(r)
		if number := p.node.Number(q); number != q && c.numbers == nil {
			c.numbers = slices.Clone(g.Procs[:r])
		}
		if c.numbers != nil {
			// while c exists nobody else gets the slot
			c.numbers = append(c.numbers, p.node.Number(q))
		}
		if p.isDead(q) {
			c.gone.Part(q, p.node.HasLeft(q))
		}
		if p.memory.shares && !p.others.isAway(q) && p.port.Processes() && p.port.Reach(q) != nil {
			defer p.fenceLocked("the memory of a process that was started later cannot be mapped")
		}
	}
	p.comms.Put(g.Index, c)
	p.live = append(p.live, c)
	// Sources are world processes in every context, so that a message can be kept
	// before its communicator is there.
	p.match.Open(dataContext(g.Index, PointToPoint), len(c.rankOf), false)
	p.match.Open(dataContext(g.Index, Collective), len(c.rankOf), true)
	// A process that decided another group before it died may have sent to this one (A17). A
	// message of a non-member is dropped.
	for class := range matched {
		p.match.Purge(dataContext(g.Index, class), func(proc int) bool { return c.RankOf(proc) >= 0 }, p.dropped)
	}
	return c
}

func dataContext(index uint32, class Class) uint32 { return index*uint32(classes) + uint32(class) }

// Proc returns the process to which this communicator belongs.
func (c *Comm) Proc() *Proc { return c.p }

// Rank returns this process's rank.
func (c *Comm) Rank() int { return c.group.Me }

// Size returns the number of members.
func (c *Comm) Size() int { return len(c.group.Procs) }

// Procs returns the members' world processes by rank; read only.
func (c *Comm) Procs() []int { return c.group.Procs }

// Numbers returns the numbers of the members' processes by rank, which are never used twice;
// read only. Procs are their slots.
func (c *Comm) Numbers() []int {
	if c.numbers == nil {
		return c.group.Procs
	}
	return c.numbers
}

// RankOfNumber returns the rank of the process with a number, or -1.
func (c *Comm) RankOfNumber(number int) int {
	if rank := c.RankOf(node.Slot(number)); rank >= 0 && c.Numbers()[rank] == number {
		return rank
	}
	return -1
}

// RankOf returns the rank of a world process, or -1.
func (c *Comm) RankOf(proc int) int {
	if proc < 0 || proc >= len(c.rankOf) {
		return -1
	}
	return int(c.rankOf[proc])
}

// Identity returns the state that is equal at all members: uid, processes, and their context
// indices; read only.
func (c *Comm) Identity() commstate.Group { return c.group }

// alive returns why nothing can be called on c any more. The caller holds mu.
func (c *Comm) alive() error {
	if err := c.p.alive(); err != nil {
		return err
	}
	if c.freed {
		return ErrFreed
	}
	return nil
}

// entry asks the rules whether an operation may start. The caller holds mu.
func (c *Comm) entry(op ulfm.Op, proc int) error {
	if !c.revoked && c.gone.IsWhole() {
		return nil
	}
	if op == ulfm.OpCollective && goesOn(c, c.calls.Last()+1) {
		return nil
	}
	st := ulfm.State{Revoked: c.revoked, PeerDead: proc >= 0 && c.p.isDead(proc)}
	if f := c.p.ctl.Failed(c.group.Index); f != nil {
		st.AnyDead, st.UnackedDead = f.Len() > 0, f.Unacked()
	}
	return ulfm.Entry(op, st)
}

// Enter reports whether a collective may start. After a known failure the collective fails at entry
// (R55).
func (c *Comm) Enter(op ulfm.Op) error {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.p.calls++
	if err := c.alive(); err != nil {
		return err
	}
	c.p.gone.read()
	if err := c.alive(); err != nil { // the departure may be this process's own
		return err
	}
	return c.mayEnter(op, -1)
}

// mayEnter is entry, but handles arrived frames before it refuses. A program that makes one call
// after another, each refused because of a dead peer, would otherwise never learn of the revocation
// that stops it (R18): such calls wait for nothing, and the background loop leaves the lead to a
// program that makes calls. The caller holds mu.
func (c *Comm) mayEnter(op ulfm.Op, proc int) error {
	if c.entry(op, proc) == nil {
		return nil
	}
	c.p.progress()
	if err := c.alive(); err != nil {
		return err
	}
	return c.entry(op, proc)
}

// Revoke revokes c at all members.
func (c *Comm) Revoke() error {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if err := c.alive(); err != nil {
		return err
	}
	revoke(c)
	return nil
}

// revoke revokes c at all members, also if this process dies before they have been notified (B24).
func revoke(c *Comm) {
	p := c.p
	if p.cfg.OnRevoke != nil && !c.revoked && !c.shared {
		p.cfg.OnRevoke(c.group.UID.RevokedBy(c.group.Procs[c.group.Me]))
	}
	p.rules.step(control.Revoke{Comm: c.group.Index})
	p.links.pushOn()
}

// Outlived hands a process a revocation by a process that has died: a commstate.Revocation.
func Outlived(p *Proc, name [16]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fenced.Load() || p.finalized.Load() {
		return
	}
	p.rules.step(control.Outlived{Name: name})
	p.links.pushOn()
}

// SetUniform sets whether the first failure of a member revokes c by itself.
func (c *Comm) SetUniform(on bool) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if c.alive() == nil {
		p.rules.step(control.Uniform{Comm: c.group.Index, On: on})
		p.links.pushOn()
	}
}

// Broken returns a channel that is closed once c is known to be revoked.
func Broken(c *Comm) <-chan struct{} {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	r := &c.revocation
	if r.broken == nil {
		r.broken = make(chan struct{})
		if c.revoked {
			close(r.broken)
		}
	}
	return r.broken
}

// IsRevoked reports whether c is known to be revoked.
func (c *Comm) IsRevoked() bool {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.progressIfFree()
	return c.revoked
}

// progressIfFree lets arrived frames take effect in a local call: a program that only queries must
// learn, too.
func (p *Proc) progressIfFree() {
	if !p.fenced.Load() && !p.finalized.Load() {
		p.progress()
	}
}

// GetFailed returns the ranks known to have failed, in order of learning (R19, R20).
func (c *Comm) GetFailed() []int {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.progressIfFree()
	if f := p.ctl.Failed(c.group.Index); f != nil {
		return f.All()
	}
	return nil
}

// Acked returns the acknowledged ranks (R25).
func (c *Comm) Acked() []int {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if f := c.p.ctl.Failed(c.group.Index); f != nil {
		return f.Acked()
	}
	return nil
}

// Ack acknowledges the first n known failures (R21) and lets receives from any
// rank wait on once all that is known is acknowledged (R22, R26).
func (c *Comm) Ack(n int) (int, error) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if err := c.alive(); err != nil {
		return 0, err
	}
	f := p.ctl.Failed(c.group.Index)
	if f == nil {
		return 0, ErrFreed
	}
	acked, err := f.Ack(n)
	if !f.Unacked() {
		// Messages that the dead had announced are lost, and the program knows it: receives from
		// any rank pass over them.
		p.match.Forget(dataContext(c.group.Index, PointToPoint), p.lost)
		for _, r := range p.slots {
			if r.active() && r.wild && r.comm == c {
				r.setPending(false)
			}
		}
	}
	return acked, err
}

// endComm ends every data operation on c.
func (p *Proc) endComm(c *Comm, why error) {
	for class := range matched {
		p.match.Revoke(dataContext(c.group.Index, class), func(m *matchRecv) { p.complete(p.slots[m.Slot], why) }, p.dropped)
	}
	c.dropClaims()
	for _, r := range slices.Clone(p.slots) {
		if r.active() && r.comm == c && r.kind != callRequest {
			p.fail(r, why)
		}
	}
	for _, s := range p.services {
		s.commEnded(c)
	}
	if broken := c.revocation.broken; broken != nil && errors.Is(why, ulfm.ErrRevoked) {
		close(broken)
	}
}
