package agent

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Find returns the servers of kept calls, whose clients may have ended.
func (a *Agent) Find(ctx context.Context, m *pb.FindRequest) (*pb.FindReply, error) {
	if err := link.Demand(ctx, link.Client, link.Master, link.Agent); err != nil {
		return nil, err
	}
	if m.Fresh {
		a.refresh(ctx, freshWithin)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	reply := &pb.FindReply{Quiet: float64(a.now().Sub(a.table.Changed)) / float64(mono.Second)}
	if len(m.Call) == 0 {
		reply.Calls = keptTo(a.keeps.All())
	} else if len(m.Call) == len(ranking.Kept{}.Call) {
		if k, ok := a.keeps.Find([16]byte(m.Call)); ok {
			reply.Calls = keptTo([]ranking.Kept{k})
		}
	}
	return reply, nil
}

// keptOf decodes kept calls, and leaves out invalid ones.
func keptOf(calls []*pb.Kept) (list []ranking.Kept) {
	for _, k := range calls {
		if len(k.Call) != len(ranking.Kept{}.Call) || k.Attempt == 0 || k.Server.GetName() == "" || len(list) == ranking.KeptMax {
			continue
		}
		list = append(list, ranking.Kept{
			Call: [16]byte(k.Call), Attempt: k.Attempt, Addr: k.Server.Addr, Service: k.Service, Codec: k.Codec, Done: k.Done,
			Server: ranking.Server{Name: k.Server.Name, Incarnation: k.Server.Incarnation},
		})
	}
	return list
}

func keptTo(list []ranking.Kept) (calls []*pb.Kept) {
	for _, k := range list {
		calls = append(calls, &pb.Kept{
			Call: k.Call[:], Attempt: k.Attempt, Service: k.Service, Codec: k.Codec, Done: k.Done,
			Server: &pb.Ref{Name: k.Server.Name, Incarnation: k.Server.Incarnation, Addr: k.Addr},
		})
	}
	return calls
}
