package engine

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/sparse"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/internal/shm/node"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/publish"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Config is the configuration of a process.
type Config struct {
	// World are the processes of this one's world, ascending; nil: all that there can be.
	World []int
	// Union, if not nil, is the communicator of a spawned process with the processes that started
	// it.
	Union *commstate.Group
	// UnionUniform is the mode of Union at the other members. UnionName and UnionRepairs are the
	// origin of its name there (Repairs); if UnionName is empty, the name is made from its uid.
	UnionUniform bool
	UnionName    string
	UnionRepairs int
	// Share is among how many senders UnexpectedBytesMax is divided, the same at all
	// processes; 0: all that there can be.
	Share int
	// Detector configures the failure detector; its N and Me are filled in.
	Detector fd.Config
	// Watchdog is after how long without progress an agreement sends again; 0: never.
	Watchdog mono.Duration
	// UnexpectedBytesMax bounds the payload that others may push here before it
	// is received; 0: 64 MiB. Beyond its share a sender announces and waits.
	UnexpectedBytesMax uint64
	// SpinPolls is how often a waiting call polls before it sleeps. With LearnSpin that is the
	// maximum, and calls poll less often where polling has been in vain (park.Spin).
	SpinPolls int
	LearnSpin bool
	// SharesCore, if not nil, says whether another process of the job needs the core of this one. With
	// LearnSpin it is asked now and then, by a call that has polled in vain.
	SharesCore func() bool
	// YieldPolls, where ranks outnumber cores, is how often a call that waits for all members of a
	// communicator yields the processor before it sleeps: each of them needs a time slice anyway,
	// and a wake-up costs several. 0: such a call polls SpinPolls times, as other calls do.
	YieldPolls int
	// Nodes is the node of each possible process; the same at all processes. Nil: all are on one.
	Nodes []int
	// Mutual is true if every rank of the node has a core of its own; the same at all of them.
	Mutual bool
	// Messages makes agreements and collectives use messages also where processes share memory; Era
	// agreements alone. The same at all processes.
	Messages, Era bool
	// Tick is how long a rank must make no call until the background loop takes over; 0: 10 ms.
	// After calls, with nothing else under way, the time may be up to Crowd ticks, and after a call
	// that waited long up to the larger of tickMax and Crowd ticks.
	Tick time.Duration
	// Crowd is how many ranks share a core, rounded up; 0: one.
	Crowd int
	// Uniform has the first failure of a member revoke a communicator by itself; the
	// same at all processes. Comm.SetUniform changes it for one.
	Uniform bool
	// Fence is true if a process that was declared dead may run on until it learns of it. Memory
	// that such a process could still write to is not read then, as with Messages. The same at all
	// processes.
	Fence bool
	// Observe, if not nil, is called for rare events: deaths, revocations, agreements that found
	// deaths. It must not call the engine.
	Observe func(Event)
	// Alive, if not nil, is called now and then while calls are made, and at each tick of
	// the background loop: this process lives. It must not call the engine.
	Alive func()
	// OnTick, if not nil, is called by the background loop at each tick.
	OnTick func()
	// Heed, if not nil, is called before the outcome of an agreement between nodes is returned,
	// without locks. Heed returns once this node may continue (F13).
	Heed func()
	// OnRevoke, if not nil, is called before any member learns that this process revokes a
	// communicator of several nodes, with a commstate.Revocation: the survivors are to learn of the
	// revocation even if this process dies (B24). OnRevoke must not call the engine.
	OnRevoke func(name [16]byte)
	// OnSilent, if not nil, is called when a process has shown no life for long enough to
	// be ended. If the detector does not fence, the launcher ends the process and declares
	// its departure. If it fences, the members have declared the process, which may run on:
	// the launcher ends it with the job. OnSilent must not call the engine.
	OnSilent func(proc int)
	// OnUnreceived, if not nil, is called once, in Finalize, if messages have come that this
	// process has not received: how many, and a line about them. It must not call the engine.
	OnUnreceived func(text string)
	// OnFenced, if not nil, is called once when the others have declared this
	// process dead.
	OnFenced func(why string)
}

// An Event is a rare thing that happened, for a report.
type Event struct {
	What  string // "detect", "revoke", "agree", "shrink", "suspect", "anomaly"
	Comm  string
	Procs []int // world processes concerned
	Text  string
}

// Proc is one process of the job. Its single responsibility is to host the rules: it reads arrivals
// and timers, steps the rules, and carries out their actions.
type Proc struct {
	mu     park.Lock
	node   *node.Node
	link   transport.Link
	port   *transport.Port // to the processes of this node: no interface call per frame
	others *others         // of other nodes; nil: all processes are on this one
	cfg    Config
	me, n  int
	start  time.Time

	ctl   *control.Control
	match *match.Matcher
	peers sparse.Table[peerState]
	slots []*Request
	idle  []*Request
	comms sparse.Pages[Comm] // by context index
	live  []*Comm            // those that are there
	// Freed, and not closed yet: something is under way on them.
	parting []parting
	world   *Comm // the one that Finalize ends: that of the beginning, or its successor
	union   *Comm // with the processes that started this one, or nil

	calls      uint64 // calls made so far: the background loop sees whether the program computes
	epochSeen  atomic.Uint64
	kept       atomic.Uint64    // unexpected messages so far
	faults     atomic.Uint64    // requests that ended with an error, or may (R49), so far
	groups     []*group         // idle ones, of waits for several
	header     transport.Header // of the frame being sent
	probes     []*Request
	creditStep uint64 // bytes of credit that are returned together

	gone   departures // the departed processes
	links  links      // frames that wait for room
	rules  rules      // the host of ctl
	leads  leadership // of the call that makes progress for all
	loop   background // makes progress while the program computes
	ending ending     // Finalize

	services  [servicesCount]service
	busy      busy
	transfers transfers
	memory    memory
	schedules schedules

	fenced    atomic.Bool
	finalized atomic.Bool
}

type peerState struct {
	outbox   [][]byte // control frames that had no room yet
	sent     int      // of outbox[0]
	pushes   []*Request
	credit   match.Credit
	asked    bool          // something was sent to the peer since its frames were last read
	patience park.Patience // how long its answers take
	long     rendezvous.Peer
	released uint64 // bytes of its payloads that were released here
	told     uint64 // as last published
	waiting  bool   // in Proc.blocked
	dead     bool
}

// isDead reports whether a process was declared dead here.
func (p *Proc) isDead(proc int) bool {
	q := p.peers.Peek(proc)
	return q != nil && q.dead
}

// newPeer returns the initial state of a peer.
func (c Config) newPeer() peerState {
	q := peerState{credit: match.NewCredit(match.Limit(c.UnexpectedBytesMax, c.Share))}
	q.patience.Max = park.PatienceMax()
	return q
}

// New starts the engine of a process.
func New(end transport.End, cfg Config) *Proc {
	p := &Proc{node: end.Node, link: end.Link, cfg: cfg, me: end.Node.Me(), n: end.Node.Procs(), start: time.Now(), match: match.New()}
	p.gone.p, p.links.p, p.rules.p, p.leads.p, p.loop.p, p.ending.p = p, p, p, p, p, p
	p.transfers.p, p.memory.p, p.schedules.p, p.memory.oneSided.p = p, p, p, p
	p.services = [servicesCount]service{servesTransfers: &p.transfers, servesMemory: &p.memory, servesSchedules: &p.schedules, servesOneSided: &p.memory.oneSided}
	p.loop.stop, p.loop.hurry, p.loop.ended = make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	p.leads.spin.Most = cfg.SpinPolls
	p.port, _ = end.Link.(*transport.Port)
	if nodes, ok := end.Link.(betweenNodes); ok {
		p.port, p.others = nodes.Near(), &others{p, nodes, nodes.Away()}
	}
	if p.port != nil && p.port.Processes() {
		park.Settle(p.me, cfg.Mutual)
		p.leads.othersUnfenced = cfg.Mutual
		p.leads.unfenced = cfg.Mutual && publish.Register()
	}
	for i := range segment.Transfers {
		p.transfers.accounts = append(p.transfers.accounts, segment.Transfers-1-i)
	}
	p.leads.ready, p.loop.ready, p.rules.ring = p.leads.mustPoll, p.loop.mustPoll, p.rules.tick
	p.leads.watch.Wake = func() { p.node.Notify(p.me, park.Caller|park.Background) }
	if p.cfg.UnexpectedBytesMax == 0 {
		p.cfg.UnexpectedBytesMax = match.DefaultLimitBytes
	}
	if p.cfg.Tick == 0 {
		p.cfg.Tick = 10 * time.Millisecond
	}
	p.cfg.Crowd = max(p.cfg.Crowd, 1)
	p.slots = append(p.slots, &Request{}) // slot 0 is never used: the zero Handle names nothing
	if p.cfg.Share == 0 {
		p.cfg.Share = p.n
	}
	p.creditStep = match.Limit(p.cfg.UnexpectedBytesMax, p.cfg.Share) / 8
	p.peers = sparse.New(p.n, p.cfg.newPeer)
	p.gone.begin()
	rules := control.Config{N: p.n, Me: p.me, World: cfg.World, Union: cfg.Union, UnionUniform: cfg.UnionUniform, Detector: cfg.Detector, Watchdog: cfg.Watchdog, Uniform: cfg.Uniform,
		Slots: p.port != nil && cfg.Detector.Mode == fd.Exact && !cfg.Fence}
	if len(cfg.World) > 0 {
		rules.Generation = p.node.Generation(cfg.World[0])
	}
	p.memory.begin(&rules)
	p.ctl = control.New(rules)
	p.world = p.openComm(control.WorldGroup(p.n, p.me, cfg.World, rules.Generation), "world")
	p.ending.first = p.world
	if cfg.Union != nil {
		p.union = p.openComm(*cfg.Union, "")
		p.union.name = commstate.RepairedName(cmp.Or(cfg.UnionName, spawnName(cfg.Union)), cfg.UnionRepairs)
	}
	p.mu.Lock()
	p.gone.meet()
	p.rules.setTimer()
	p.mu.Unlock()
	go p.loop.run()
	return p
}

// World returns the communicator that this process has begun with.
func (p *Proc) World() *Comm { return p.ending.first }

// Union returns the communicator of a spawned process with the processes that started it, or nil.
func (p *Proc) Union() *Comm { return p.union }

// Me returns this process's slot.
func (p *Proc) Me() int { return p.me }

// Number returns this process's number, which no other process ever has.
func (p *Proc) Number() int { return p.node.Number(p.me) }

// Close ends the background loop. Call Close after Finalize, or at death.
func (p *Proc) Close() {
	p.loop.stopped.Do(func() {
		close(p.loop.stop)
		p.mu.Lock()
		p.rules.alarm.Stop()
		p.mu.Unlock()
		p.node.Notify(p.me, park.Caller|park.Background)
	})
	<-p.loop.ended
}

func (p *Proc) now() mono.Time { return mono.Time(time.Since(p.start)) }

// progress lets everything that has arrived take effect, and sends frames that had no room. The
// caller holds mu. The result is true if anything happened.
func (p *Proc) progress() bool {
	did := p.gone.read()
	p.links.taken = p.link.Take(transport.Control, p.links.taken[:0])
	for _, from := range p.links.taken {
		did = p.links.readControl(from) || did
		p.link.Sweep(from)
	}
	p.ending.noticeLeavers()
	did = p.links.drainArrived() || did
	did = p.links.pushOn() || did
	did = p.serve() || did
	if len(p.parting) > 0 {
		did = p.closeParting() || did
	}
	if did && len(p.probes) > 0 {
		p.checkProbes()
	}
	if p.ending.parting != nil {
		p.others.checkParted()
	}
	return did
}

// Declared returns the processes known to be dead. For tests and diagnosis.
func (p *Proc) Declared() rankset.Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ctl.Dead().Clone()
}

// Fenced reports whether the others have declared this process dead.
func (p *Proc) Fenced() bool { return p.fenced.Load() }

// Kill makes this process dead to itself: every call from now on returns ErrFenced. Its peers are
// not notified.
func (p *Proc) Kill() { p.fence("killed") }

func (p *Proc) fence(why string) {
	p.mu.Lock()
	p.fenceLocked(why)
	p.mu.Unlock()
}

func (p *Proc) fenceLocked(why string) {
	if p.fenced.Swap(true) {
		return
	}
	p.memory.stores.fence()
	p.endRequests(ErrFenced)
	p.link.CloseAll()
	p.peers.Each(func(q *peerState) { q.outbox, q.sent, q.pushes = nil, 0, nil })
	if p.cfg.OnFenced != nil {
		p.cfg.OnFenced(why)
	}
}

// endRequests ends all requests that are under way.
func (p *Proc) endRequests(why error) {
	for _, r := range p.slots {
		switch {
		case !r.active():
		case r.kind == scheduleRequest: // it ends when its messages have
			r.schedule.x.Fail(why)
		default:
			p.complete(r, why)
		}
	}
	p.schedules.run()
}

// alive returns the reason why this process makes no more calls, if any.
func (p *Proc) alive() error {
	if p.fenced.Load() {
		return ErrFenced
	}
	if p.finalized.Load() {
		return ErrFinalized
	}
	return nil
}
