package agent

import (
	"context"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// freshWithin bounds the time of a request to all servers.
const freshWithin = 200 * time.Millisecond

// Schedule names the servers that are best for a request.
func (a *Agent) Schedule(ctx context.Context, m *pb.ScheduleRequest) (*pb.ScheduleReply, error) {
	if err := link.Demand(ctx, link.Client, link.Master, link.Agent); err != nil {
		return nil, err
	}
	if m.Fresh {
		a.refresh(ctx, freshWithin)
	}
	r := ranking.Request{Service: m.Service, Work: m.Work, Bytes: m.Bytes, Saved: m.Saved, Holders: m.Holders}
	for _, x := range m.Exclude {
		r.Exclude = append(r.Exclude, ranking.Server{Name: x.Name, Incarnation: x.Incarnation})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.All {
		return a.reply(a.table.Estimates(""), true, ""), nil
	}
	best, known := a.table.Best(r)
	if len(best) > 0 {
		a.table.Book(r, best[0].Server)
	}
	return a.reply(best, known, m.Service), nil
}

func (a *Agent) reply(best []ranking.Estimate, known bool, service string) *pb.ScheduleReply {
	reply := &pb.ScheduleReply{Unknown: !known, Quiet: float64(a.now().Sub(a.table.Changed)) / float64(mono.Second)}
	if !known {
		reply.Near = a.table.Near(service)
	}
	for _, e := range best {
		reply.Candidates = append(reply.Candidates, a.toWire(e))
	}
	return reply
}
