package heartbeat

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/fd/beat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Pulse sends and receives the heartbeats of one process.
type Pulse struct {
	node *beat.Endpoint
	id   *link.Identity
	me   *pb.Ref // nil: no process observes this process

	mu      sync.Mutex
	all     []*Watch
	waiting []waiting // introductions that have not begun
	begun   int       // introductions under way, without those that take long
	ended   context.Context
	end     context.CancelFunc
}

// New opens the socket of a process that others can observe, at the address of me.
func New(id *link.Identity, me *pb.Ref) (*Pulse, error) {
	host, _, err := net.SplitHostPort(me.Addr)
	if err != nil {
		return nil, err
	}
	p, err := NewObserver(id, net.JoinHostPort(host, "0"))
	if err == nil {
		p.me = me
	}
	return p, err
}

// NewObserver opens the socket of a process that no other process observes, such as a client.
func NewObserver(id *link.Identity, at string) (*Pulse, error) {
	node, err := beat.Listen(at)
	if err != nil {
		return nil, err
	}
	p := &Pulse{node: node, id: id}
	p.ended, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Close ends all observations.
func (p *Pulse) Close() {
	p.end()
	p.node.Close()
}

// Stream is the connection of an observer, at the process that is observed.
type Stream = grpc.BidiStreamingServer[pb.Beating, pb.Beating]

// queued is the number of messages that wait for a connection. Further ones are lost, like
// datagrams.
const queued = 16

// Serve serves an observer until its connection ends.
func (p *Pulse) Serve(stream Stream) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if first.GetObserve() == nil {
		return status.Error(codes.InvalidArgument, "the first message must be an Observe")
	}
	key := beat.NewKey()
	out := make(chan []byte, queued)
	e, err := p.node.Accept(first.GetObserve().Stream, key, func(sealed []byte) {
		select {
		case out <- sealed:
		default:
		}
	})
	if err != nil {
		return status.Error(codes.ResourceExhausted, err.Error())
	}
	alone := false
	defer func() {
		if !alone {
			e.Close()
		}
	}()
	hello := &pb.Observing{Addr: p.node.Addr().String(), Key: key, Me: p.me}
	if err := stream.Send(&pb.Beating{Kind: &pb.Beating_Observing{Observing: hello}}); err != nil {
		return err
	}
	broken := make(chan error, 1)
	go func() { broken <- hearFrom(stream, e.Receive) }()
	for {
		select {
		case sealed := <-out:
			if err := stream.Send(&pb.Beating{Kind: &pb.Beating_Sealed{Sealed: sealed}}); err != nil {
				return err
			}
		case err := <-broken:
			if alone = errors.Is(err, io.EOF); alone { // beats arrive as datagrams there
				e.Detach()
				return nil
			}
			return err
		case <-p.ended.Done():
			return status.Error(codes.Unavailable, "ends")
		}
	}
}

// hearFrom handles the messages of a connection until the connection ends.
func hearFrom(stream interface{ Recv() (*pb.Beating, error) }, hear func(sealed []byte)) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if len(m.GetSealed()) > 0 {
			hear(m.GetSealed())
		}
	}
}

// Emitting returns the number of processes that observe this process.
func (p *Pulse) Emitting() int { return p.node.Senders() }

// errStranger reports that another process is at an address.
var errStranger = errors.New("another process has this address")

// Watched returns the observed processes, in the order of their names.
func (p *Pulse) Watched() []*pb.Watched {
	p.mu.Lock()
	all := slices.Clone(p.all)
	p.mu.Unlock()
	var list []*pb.Watched
	for _, w := range all {
		f := w.observation.Stats()
		list = append(list, &pb.Watched{
			Name: w.name, Rtt: f.Network.RTT.Seconds(), Loss: f.Network.Loss, Period: f.Period.Seconds(),
			Recurrence: f.Quality.Recurrence.Seconds(), Attainable: f.Quality.Attainable, Suspected: f.Suspected,
		})
	}
	slices.SortFunc(list, func(a, b *pb.Watched) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Period, b.Period))
	})
	return list
}
