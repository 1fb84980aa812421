// Package agent is the process between servers and clients: it keeps what servers report and
// answers which of them are best for a request.
package agent

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc/internal/collate"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/internal/mono"
)

// Config is what an agent is started with.
type Config struct {
	Identity *link.Identity
	Name     string
	Listener net.Listener
}

// Agent hosts the rules of an agent.
type Agent struct {
	pb.UnimplementedAgentServer
	pb.UnimplementedNodeServer
	me     *pb.Ref
	origin time.Time

	mu    sync.Mutex
	table collate.Table
	refs  map[collate.Server]*pb.Ref
	links uint64
}

// Serve runs an agent until ctx is done.
func Serve(ctx context.Context, c Config) error {
	a := &Agent{
		me:     &pb.Ref{Name: c.Name, Incarnation: uint64(time.Now().UnixNano()), Addr: c.Listener.Addr().String()},
		origin: time.Now(),
		refs:   map[collate.Server]*pb.Ref{},
	}
	g := c.Identity.NewServer()
	pb.RegisterAgentServer(g, a)
	pb.RegisterNodeServer(g, a)
	go func() {
		<-ctx.Done()
		g.Stop()
	}()
	err := g.Serve(c.Listener)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (a *Agent) now() mono.Time { return mono.Time(time.Since(a.origin)) }

// Probe says who is here.
func (a *Agent) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{Me: a.me}, nil
}

// Link keeps a child for as long as its stream lasts.
func (a *Agent) Link(stream grpc.BidiStreamingServer[pb.Up, pb.Down]) error {
	if err := link.Demand(stream.Context(), link.Worker, link.Agent, link.Master); err != nil {
		return err
	}
	a.mu.Lock()
	a.links++
	id := a.links
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.table.Drop(id, a.now())
	}()
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if r := m.GetReport(); r != nil {
			a.report(id, r)
		}
	}
}

func (a *Agent) report(id uint64, r *pb.Report) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	var list []collate.Estimate
	for _, e := range r.Estimates {
		s := collate.Server{Name: e.Server.GetName(), Incarnation: e.Server.GetIncarnation()}
		a.refs[s] = e.Server
		list = append(list, collate.Estimate{
			Server: s, Service: e.Service, Wait: e.Wait, Rate: e.Rate, Bandwidth: e.Bandwidth, Free: int(e.Free),
			Said: now.Add(-mono.Duration(e.Age * float64(mono.Second))),
		})
	}
	a.table.Report(id, list, now)
}

// Schedule names the servers that are best for a request.
func (a *Agent) Schedule(ctx context.Context, m *pb.ScheduleRequest) (*pb.ScheduleReply, error) {
	if err := link.Demand(ctx, link.Client, link.Master, link.Agent); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r := collate.Request{Service: m.Service, Work: m.Work, Bytes: m.Bytes}
	for _, x := range m.Exclude {
		r.Exclude = append(r.Exclude, collate.Server{Name: x.Name, Incarnation: x.Incarnation})
	}
	best, known := a.table.Best(r)
	if m.All {
		best = a.table.Estimates("")
	}
	reply := &pb.ScheduleReply{Unknown: !known, Quiet: float64(a.now().Sub(a.table.Changed)) / float64(mono.Second)}
	if !known {
		reply.Near = a.table.Near(m.Service)
	}
	if len(best) > 0 && !m.All {
		a.table.Book(r, best[0].Server)
	}
	for _, e := range best {
		reply.Candidates = append(reply.Candidates, &pb.Estimate{
			Server: a.refs[e.Server], Service: e.Service, Wait: e.Wait, Rate: e.Rate, Free: uint32(max(0, e.Free)), Bandwidth: e.Bandwidth,
		})
	}
	return reply, nil
}
