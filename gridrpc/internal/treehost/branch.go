package treehost

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
)

// ServerTier is the tier of all servers: they are leaves.
const ServerTier = 65535

// Config configures a branch.
type Config struct {
	Me       *pb.Ref // Tier is ServerTier for a server, or as configured; 0: one more than that of the first parent
	Identity *link.Identity
	Pulse    *heartbeat.Pulse
	Root     bool
	Term     uint64                                     // of the root, if this is it: greater than that of any root before
	Parent   string                                     // name of the configured parent; "": the root
	Address  func(name string) string                   // of the configured parent; "" is not known
	Oracle   func(ctx context.Context) (*pb.Ref, error) // returns the root
	Detect   adaptive.QoS                               // of observed processes
	Known    int                                        // number of known ancestors (f of the paper); 0: 16
	Observed int                                        // number of observed ancestors (m); 0: (Known-1)/4, rounded up
	Stay     bool                                       // does not search for a parent after a loss, for measurements
	Owner    Owner
	Trace    bool // reports lost processes and known ancestors to the owner, with the time
}

// Owner receives the messages and events of the links. Its methods must not block.
type Owner interface {
	Attached()                           // there is a new parent, without reports of this process
	Asked(q *pb.Question)                // by the parent
	Reported(child uint64, r *pb.Report) // child names the link
	Gone(child uint64)                   // the link has ended
	Say(text string)                     // prints an event for a person
}

// Branch is the place of one process in the tree.
type Branch struct {
	cfg    Config
	origin time.Time
	ctx    context.Context
	cancel context.CancelFunc

	mu        sync.Mutex
	rule      *tree.Links
	timer     *time.Timer
	ups       map[uint64]*up // by generation
	downs     map[downKey]*down
	links     uint64
	ancestors map[tree.ID]*heartbeat.Watch
	lost      time.Time // start of the time without a parent; zero: there is one
	stays     bool      // the rule gets no more events
}

// New returns a branch that has no parent yet. It runs until ctx is done.
func New(ctx context.Context, c Config) *Branch {
	b := &Branch{
		cfg: c, origin: time.Now(),
		ups: map[uint64]*up{}, downs: map[downKey]*down{}, ancestors: map[tree.ID]*heartbeat.Watch{}, lost: time.Now(),
	}
	b.ctx, b.cancel = context.WithCancel(ctx)
	t := tree.Config{Me: refOf(c.Me), Root: c.Root, Term: c.Term, Known: c.Known, Observed: c.Observed, Seed: rand.Uint64()}
	if t.Me.Tier == 0 {
		t.Me.Tier = tree.Untiered
	}
	if c.Parent != "" && !c.Root {
		t.Home = &tree.Ref{ID: tree.ID{Name: c.Parent}, Tier: tree.Untiered}
	}
	b.rule = tree.NewLinks(t)
	b.timer = time.AfterFunc(time.Hour, func() { b.step(tree.Tick{Now: b.now()}) })
	b.timer.Stop()
	return b
}

// Start searches for a parent. The process must already be reachable at its address.
func (b *Branch) Start() { b.step(tree.Start{At: b.now()}) }

// Depose informs the rule of a root that there is a later root (T11).
func (b *Branch) Depose(term uint64) { b.step(tree.Deposed{Term: term}) }

// Links returns the number of links to children, accepted or not.
func (b *Branch) Links() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.downs)
}

func (b *Branch) now() mono.Time { return mono.Time(time.Since(b.origin)) }

// Me returns this process, with its tier.
func (b *Branch) Me() *pb.Ref {
	b.mu.Lock()
	defer b.mu.Unlock()
	return refTo(b.rule.Tree().Me())
}

// Describe adds the links to a description.
func (b *Branch) Describe(d *pb.Description) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.Me = refTo(b.rule.Tree().Me())
	if parent, _, ok := b.rule.Tree().Parent(); ok {
		d.Parent = refTo(parent)
	}
	d.Ancestors = refsTo(b.rule.Tree().Ancestors())
	d.Children = refsTo(b.rule.Tree().Children())
}

// step applies an event to the rule, and executes the actions.
func (b *Branch) step(ev tree.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil || b.stays {
		return
	}
	actions := b.rule.Step(ev)
	if b.cfg.Trace {
		b.trace(ev, actions)
	}
	for _, a := range actions {
		if b.carryOut(a); b.stays {
			b.timer.Stop()
			return
		}
	}
	b.timer.Stop()
	if at, ok := b.rule.Deadline(); ok {
		b.timer.Reset(max(0, time.Duration(at.Sub(b.now()))))
	}
}

// carryOut executes one action without waiting. The caller holds mu.
func (b *Branch) carryOut(a tree.Action) {
	switch a := a.(type) {
	case tree.Probe:
		go b.probe(a.To)
	case tree.Join:
		b.join(a)
	case tree.Leave:
		b.leave(a)
	case tree.Accept:
		b.accept(a)
	case tree.Refuse:
		b.toChild(a.Child, a.Generation, &pb.Down{Kind: &pb.Down_Refused{Refused: &pb.Refused{Redirect: refsTo(a.Redirect)}}})
	case tree.List:
		b.toChild(a.Child, a.Generation, &pb.Down{Kind: &pb.Down_Ancestors{Ancestors: &pb.Ancestors{NearestFirst: refsTo(a.Ancestors), Term: a.Term}}})
	case tree.AskOracle:
		b.cfg.Owner.Say("asks who is the root")
		go b.askOracle()
	case tree.LookHome:
		go b.lookHome()
	case tree.Observe:
		b.observe(a.Whom)
	case tree.Gained:
		b.gained(a)
	case tree.Lost:
		b.lost, b.stays = time.Now(), b.cfg.Stay
		b.cfg.Owner.Say("has lost its parent " + a.Parent.Name)
	}
}

// askWithin bounds the time for an answer of an agent or of the oracle.
const askWithin = 2 * time.Second

// probe checks whether an ancestor is alive.
func (b *Branch) probe(to tree.Ref) {
	ctx, cancel := context.WithTimeout(b.ctx, askWithin)
	defer cancel()
	is, err := b.whoIs(ctx, to.Addr)
	switch {
	case err == nil:
		if pausepoint.Enabled {
			pausepoint.At("grid.answered")
		}
		b.step(tree.Answered{At: b.now(), Asked: to.ID, Is: is.ID})
	case link.Look(ctx, to.Addr) == link.Refuses:
		b.step(tree.Declared{At: b.now(), Who: to.ID})
	}
}

// whoIs returns the identity of the process at an address.
func (b *Branch) whoIs(ctx context.Context, addr string) (tree.Ref, error) {
	conn, err := b.cfg.Identity.Dial(addr)
	if err != nil {
		return tree.Ref{}, err
	}
	defer link.HangUp(conn)
	reply, err := pb.NewNodeClient(conn).Probe(ctx, &pb.ProbeRequest{})
	if err != nil {
		return tree.Ref{}, err
	}
	return refOf(reply.Me), nil
}

func (b *Branch) askOracle() {
	ctx, cancel := context.WithTimeout(b.ctx, askWithin)
	defer cancel()
	ev := tree.Oracle{}
	if root, err := b.cfg.Oracle(ctx); err == nil && root != nil {
		ref := refOf(root)
		ev.Root = &ref
	}
	ev.At = b.now()
	b.step(ev)
}

// lookHome checks which process is at the configured parent's address.
func (b *Branch) lookHome() {
	ctx, cancel := context.WithTimeout(b.ctx, askWithin)
	defer cancel()
	if home, err := b.whoIs(ctx, b.cfg.Address(b.cfg.Parent)); err == nil {
		b.step(tree.HomeSeen{At: b.now(), Home: home})
	}
}

// refOf decodes a Ref. The tier of a process that was never attached is sent as unplaced.
func refOf(r *pb.Ref) tree.Ref {
	ref := tree.Ref{ID: tree.ID{Name: r.GetName(), Incarnation: r.GetIncarnation()}, Addr: r.GetAddr(), Tier: int(r.GetTier())}
	if r.GetTier() == unplaced {
		ref.Tier = tree.Untiered
	}
	return ref
}

// unplaced is tree.Untiered on the wire.
const unplaced = 1 << 31

func refTo(r tree.Ref) *pb.Ref {
	ref := &pb.Ref{Name: r.Name, Incarnation: r.Incarnation, Addr: r.Addr, Tier: uint32(r.Tier)}
	if r.Tier == tree.Untiered {
		ref.Tier = unplaced
	}
	return ref
}

func refsTo(list []tree.Ref) (refs []*pb.Ref) {
	for _, r := range list {
		refs = append(refs, refTo(r))
	}
	return refs
}

func refsOf(list []*pb.Ref) (refs []tree.Ref) {
	for _, r := range list {
		refs = append(refs, refOf(r))
	}
	return refs
}
