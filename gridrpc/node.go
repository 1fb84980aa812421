package gridrpc

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// node is what a server answers as each process of a platform does.
type node struct {
	pb.UnimplementedNodeServer
	server *Server
}

// Probe says who is here.
func (n node) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{Me: n.server.me}, nil
}

// Beats serves an observer.
func (n node) Beats(stream heartbeat.Stream) error { return n.server.pulse.Serve(stream) }

// Describe tells what the server knows.
func (n node) Describe(context.Context, *pb.DescribeRequest) (*pb.Description, error) {
	s := n.server
	d := &pb.Description{Watched: s.pulse.Watched(), Estimates: s.estimates()}
	s.leaf.branch.Describe(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.attempts {
		if r := a.running(); r != nil {
			d.Running = append(d.Running, r)
		}
	}
	return d, nil
}
