package gridrpc

import (
	"context"
	"encoding/hex"
	"math"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
)

// Description describes one process of a platform.
type Description struct {
	Name     string // unique on the platform
	Addr     string // at which the process serves
	Parent   string // "": none, as the root, or an agent that searches for one
	Children []Description
	Server   bool      // a server, and not a master or an agent
	Running  []Running // of a server: its calls
	Watched  []Watched // the processes that this process observes
	Err      error     // the process did not answer; its fields are those that its parent knows
}

// Running is a call at a server.
type Running struct {
	Call    string // Session.ID of the call
	Attempt int    // number of the attempt, from 1
	Service string
	Done    float64 // progress, in the unit of Total
	Total   float64 // 0: unknown

	Checkpoints int // made by this attempt
}

// Watched is the quality with which one process observes another one.
type Watched struct {
	Name       string        // of the observed process
	RTT        time.Duration // measured round-trip time
	Loss       float64       // probability of a loss; at least 1/2 divided by the number of received beats
	Period     time.Duration // between two heartbeats
	Recurrence time.Duration // expected time between two wrong suspicions, at least
	Attainable bool          // this network permits the requested quality
	Suspected  bool
}

// Describe asks the root, and all processes below it, for their state.
func (c *Client) Describe(ctx context.Context) (Description, error) {
	root, err := discovery.Root(ctx, c.dir, c.id)
	if err != nil {
		return Description{}, &Error{Op: "describe", Err: err}
	}
	return c.describe(ctx, root, 0), nil
}

// depthMax bounds the walk down a tree that changes meanwhile.
const depthMax = 64

func (c *Client) describe(ctx context.Context, ref *pb.Ref, depth int) Description {
	d := Description{Name: ref.GetName(), Addr: ref.GetAddr(), Server: ref.GetTier() == treehost.ServerTier}
	conn, err := c.conn(ref.GetAddr(), "")
	if err != nil {
		d.Err = err
		return d
	}
	one, cancel := context.WithTimeout(ctx, scheduleWithin)
	defer cancel()
	m, err := pb.NewNodeClient(conn).Describe(one, &pb.DescribeRequest{})
	if err != nil {
		d.Err = err
		return d
	}
	d.Parent = m.GetParent().GetName()
	for _, r := range m.Running {
		d.Running = append(d.Running, Running{
			Call: hex.EncodeToString(r.Call), Attempt: int(r.Attempt), Service: r.Service, Done: r.GetProgress().GetDone(), Total: r.GetProgress().GetTotal(), Checkpoints: int(r.Checkpoints),
		})
	}
	for _, w := range m.Watched {
		d.Watched = append(d.Watched, Watched{
			Name: w.Name, RTT: seconds(w.Rtt), Loss: w.Loss, Period: seconds(w.Period), Recurrence: seconds(w.Recurrence),
			Attainable: w.Attainable, Suspected: w.Suspected,
		})
	}
	if depth < depthMax {
		for _, child := range m.Children {
			d.Children = append(d.Children, c.describe(ctx, child, depth+1))
		}
	}
	return d
}

// seconds returns a duration of s seconds, at most the longest one.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(s * 1e9)
}
