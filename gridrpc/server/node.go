package server

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// node serves the requests that all processes of a platform answer.
type node struct {
	pb.UnimplementedNodeServer
	server *Server
}

// Probe returns the identity of this process.
func (n node) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{Me: n.server.me}, nil
}

// Beats serves an observer.
func (n node) Beats(stream heartbeat.Stream) error { return n.server.pulse.Serve(stream) }

// Describe returns the state of the server.
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
