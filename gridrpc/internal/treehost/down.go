package treehost

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/internal/base/fifo"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
)

// Stream is a link, at the parent.
type Stream = grpc.BidiStreamingServer[pb.Up, pb.Down]

// downKey names a link, at the parent.
type downKey struct {
	child      tree.ID
	generation uint64
}

// down is a link to a child, accepted or not.
type down struct {
	id       uint64
	child    tree.Ref
	accepted bool
	mu       sync.Mutex // held while the owner gets a report
	ended    bool       // the owner gets no more reports
	out      *fifo.Box[*pb.Down]
	done     chan struct{} // closed when this process has ended the link
	watch    *heartbeat.Watch
}

// Link serves the link of a child until it ends.
func (b *Branch) Link(stream Stream) error {
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	if err := admit(stream.Context(), m.GetJoin()); err != nil {
		return err
	}
	j := m.GetJoin()
	key := downKey{refOf(j.Child).ID, j.Generation}
	d := b.enter(key, refOf(j.Child), stream)
	if d == nil {
		return status.Error(codes.AlreadyExists, "there is this link already")
	}
	if pausepoint.Enabled {
		pausepoint.At("grid.asked")
	}
	b.step(tree.JoinAsked{Child: d.child, Generation: key.generation, Parent: refOf(j.Parent).ID})
	err = b.hearChild(d, stream)
	b.quit(key, d)
	b.step(tree.Closed{At: b.now(), Peer: key.child, Generation: key.generation})
	b.cfg.Owner.Gone(d.id)
	return err
}

// admit returns an error unless the process may join under that name: the name must be that of its
// certificate, and servers must be leaves.
func admit(ctx context.Context, j *pb.Join) error {
	role, name, err := link.Caller(ctx)
	switch {
	case err != nil:
		return err
	case j == nil || j.Child.GetName() != name:
		return status.Errorf(codes.PermissionDenied, "%s %s joins as %q", role, name, j.GetChild().GetName())
	case role == link.Client || role == link.Store || (role == link.Worker) != (j.Child.Tier == ServerTier):
		return status.Errorf(codes.PermissionDenied, "%s %s may not join with tier %d", role, name, j.Child.Tier)
	}
	return nil
}

func (b *Branch) enter(key downKey, child tree.Ref, stream Stream) *down {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.downs[key] != nil {
		return nil
	}
	b.links++
	d := &down{id: b.links, child: child, done: make(chan struct{})}
	d.out = fifo.New(func(list []*pb.Down) error {
		for _, m := range list {
			if err := stream.Send(m); err != nil {
				return err
			}
			if m.GetRefused() != nil || m.GetLeave() != nil {
				close(d.done)
				return context.Canceled // no message follows
			}
		}
		return nil
	})
	b.downs[key] = d
	return d
}

func (b *Branch) quit(key downKey, d *down) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.downs, key)
	d.out.Shut()
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	if d.watch != nil {
		d.watch.End()
	}
}

// hearChild handles the messages of a child until the link ends.
func (b *Branch) hearChild(d *down, stream Stream) error {
	broken := make(chan error, 1)
	go func() {
		for {
			m, err := stream.Recv()
			switch {
			case err != nil:
				broken <- err
				return
			case m.GetReport() != nil:
				b.reported(d, m.GetReport())
			case m.GetLeave() != nil:
				broken <- nil
				return
			}
		}
	}()
	select {
	case err := <-broken:
		return err
	case <-d.done:
		return nil
	case <-b.ctx.Done():
		return status.Error(codes.Unavailable, "ends")
	}
}

// reported forwards a report, unless the link has ended here. Otherwise a child that has left would
// reappear and stay for ever.
func (b *Branch) reported(d *down, r *pb.Report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ended {
		if pausepoint.Enabled {
			pausepoint.At("grid.reported")
		}
		b.cfg.Owner.Reported(d.id, r)
	}
}

// accept accepts a child. The caller holds mu.
func (b *Branch) accept(a tree.Accept) {
	d := b.downs[downKey{a.Child, a.Generation}]
	if d == nil { // the link broke meanwhile, and the rule will get the event
		return
	}
	d.accepted = true
	d.watch = b.watch(d.child)
	d.out.Post(&pb.Down{Kind: &pb.Down_Joined{Joined: &pb.Joined{
		Parent: refTo(a.Parent), Ancestors: &pb.Ancestors{NearestFirst: refsTo(a.Ancestors), Term: a.Term},
	}}})
}

func (b *Branch) toChild(child tree.ID, generation uint64, m *pb.Down) {
	if d := b.downs[downKey{child, generation}]; d != nil {
		d.out.Post(m)
	}
}

// Ask sends a question to all children, and returns the numbers of their links.
func (b *Branch) Ask(q *pb.Question) (links []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.downs {
		if d.accepted {
			links = append(links, d.id)
			d.out.Post(&pb.Down{Kind: &pb.Down_Question{Question: q}})
		}
	}
	return links
}
