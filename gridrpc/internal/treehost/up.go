package treehost

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/fd/beat"
	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/internal/base/fifo"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
)

// up is a link to a parent, or to an agent that has been asked to become the parent.
type up struct {
	generation uint64
	ctx        context.Context
	cancel     context.CancelFunc
	out        *fifo.Box[*pb.Up] // nil until the parent has accepted
}

// join asks an agent to become the parent. The caller holds mu.
func (b *Branch) join(a tree.Join) {
	u := &up{generation: a.Generation}
	u.ctx, u.cancel = context.WithCancel(b.ctx)
	b.ups[a.Generation] = u
	go b.climb(u, a)
}

// climb serves a link until it has ended.
func (b *Branch) climb(u *up, a tree.Join) {
	defer u.cancel()
	defer b.forget(u)
	to := a.To
	if to.Addr == "" { // the configured parent may have moved
		to.Addr = b.cfg.Address(to.Name)
	}
	b.attach(u, to, a.Child)
	if u.ctx.Err() == nil { // otherwise this process has left
		b.step(tree.Ended{At: b.now(), Generation: u.generation})
	}
}

func (b *Branch) forget(u *up) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.ups, u.generation)
}

// attach opens the stream of a link, and serves it until it ends for any reason.
func (b *Branch) attach(u *up, to tree.Ref, me tree.Ref) {
	conn, err := b.cfg.Identity.Dial(to.Addr, link.Agent, link.Master)
	if err != nil {
		return
	}
	defer link.HangUp(conn)
	stream, err := pb.NewAgentClient(conn).Link(u.ctx)
	if err != nil {
		return
	}
	join := &pb.Join{Child: refTo(me), Generation: u.generation, Parent: refTo(to)}
	if err := stream.Send(&pb.Up{Kind: &pb.Up_Join{Join: join}}); err != nil {
		return
	}
	m, err := stream.Recv()
	switch {
	case err != nil:
	case m.GetJoined() == nil:
		b.step(tree.Declined{At: b.now(), Generation: u.generation, Redirect: refsOf(m.GetRefused().GetRedirect())})
	default:
		b.accepted(u, stream, m.GetJoined())
		b.hearParent(u, stream)
	}
}

// accepted reports the acceptance of a link to the rule. The rule makes it the link to the parent,
// or leaves it.
func (b *Branch) accepted(u *up, stream grpc.BidiStreamingClient[pb.Up, pb.Down], m *pb.Joined) {
	b.mu.Lock()
	u.out = fifo.New(func(list []*pb.Up) error {
		for _, m := range list {
			if err := stream.Send(m); err != nil {
				return err
			}
			if m.GetLeave() != nil {
				u.cancel()
			}
		}
		return nil
	})
	b.mu.Unlock()
	if pausepoint.Enabled {
		pausepoint.At("grid.joined")
	}
	b.step(tree.Joined{At: b.now(), Parent: refOf(m.Parent), Generation: u.generation, Ancestors: refsOf(m.GetAncestors().GetNearestFirst()), Term: m.GetAncestors().GetTerm()})
	b.mu.Lock()
	_, generation, ok := b.rule.Tree().Parent()
	b.mu.Unlock()
	if ok && generation == u.generation {
		b.cfg.Owner.Attached()
	}
}

// gained reports a new parent to the owner. The caller holds mu.
func (b *Branch) gained(a tree.Gained) {
	text := "has the parent " + a.Parent.Name
	if !b.lost.IsZero() {
		text += fmt.Sprintf(", after %v without one", time.Since(b.lost).Round(time.Millisecond/10))
		b.lost = time.Time{}
	}
	b.cfg.Owner.Say(text)
}

// hearParent handles the messages of the parent until the link ends.
func (b *Branch) hearParent(u *up, stream grpc.BidiStreamingClient[pb.Up, pb.Down]) {
	for {
		m, err := stream.Recv()
		if err != nil {
			return
		}
		switch {
		case m.GetAncestors() != nil:
			list := refsOf(m.GetAncestors().NearestFirst)
			b.step(tree.Listed{At: b.now(), Generation: u.generation, Ancestors: list, Term: m.GetAncestors().Term})
		case m.GetQuestion() != nil:
			b.cfg.Owner.Asked(m.GetQuestion())
		case m.GetLeave() != nil:
			return
		}
	}
}

// Report sends a report on this subtree to the parent, if there is one.
func (b *Branch) Report(r *pb.Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, generation, ok := b.rule.Tree().Parent()
	if u := b.ups[generation]; ok && u != nil && u.out != nil {
		u.out.Post(&pb.Up{Kind: &pb.Up_Report{Report: r}})
	}
}

// leave ends a link. The caller holds mu.
func (b *Branch) leave(a tree.Leave) {
	if !a.Up {
		b.toChild(a.Peer, a.Generation, &pb.Down{Kind: &pb.Down_Leave{Leave: &pb.Leave{}}})
		return
	}
	u := b.ups[a.Generation]
	if u == nil {
		return
	}
	delete(b.ups, a.Generation)
	if u.out == nil {
		u.cancel()
		return
	}
	u.out.Post(&pb.Up{Kind: &pb.Up_Leave{Leave: &pb.Leave{}}})
	time.AfterFunc(askWithin, u.cancel) // a stopped parent reads no message
}

// observe starts and ends observations, so that exactly these ancestors are observed. The caller
// holds mu.
func (b *Branch) observe(whom []tree.Ref) {
	for id, w := range b.ancestors {
		if !slices.ContainsFunc(whom, func(r tree.Ref) bool { return r.ID == id }) {
			delete(b.ancestors, id)
			w.End()
		}
	}
	for _, r := range whom {
		if b.ancestors[r.ID] == nil {
			if w := b.watch(r); w != nil {
				b.ancestors[r.ID] = w
			}
		}
	}
}

// watch observes a process. Its death is an event of the rule, and ends the observation. watch
// returns nil if there are too many observations; then only broken links are evidence.
func (b *Branch) watch(r tree.Ref) *heartbeat.Watch {
	w, err := b.cfg.Pulse.Watch(refTo(r), b.cfg.Detect, func(n beat.Event) {
		if n.Kind == beat.Dead {
			go b.declared(r.ID)
		}
	})
	if err != nil {
		return nil
	}
	return w
}

func (b *Branch) declared(who tree.ID) {
	b.mu.Lock()
	delete(b.ancestors, who) // it may be a mistake, and the process may become a parent again
	b.mu.Unlock()
	b.step(tree.Declared{At: b.now(), Who: who})
}
