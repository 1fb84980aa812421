package gridrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// Client calls services of one platform. It may be used by several goroutines.
type Client struct {
	id      *link.Identity
	dir     string
	masters string // as the caller gave them; "": those of the folder
	ctx     context.Context
	cancel  context.CancelFunc

	mu    sync.Mutex
	conns map[string]*grpc.ClientConn
}

// clientName is the name of the certificate of all clients of a platform.
const clientName = "client"

// Dial makes a client of the platform whose masters are at the given addresses, with the
// certificate in the platform's folder. "" are the masters that GRIDRPC_MASTERS names, else
// those of this machine's platform. It asks one of them, so that a mistake is known here.
func Dial(ctx context.Context, masters string) (*Client, error) {
	dir := DefaultDir()
	c := &Client{dir: dir, masters: masters, conns: map[string]*grpc.ClientConn{}}
	if _, err := c.addresses(); err != nil {
		return nil, &Error{Op: "dial", Err: err}
	}
	id, err := link.Load(dir, clientName)
	if err != nil {
		return nil, &Error{Op: "dial", Err: err}
	}
	c.id = id
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if _, err := c.schedule(ctx, &pb.ScheduleRequest{MaxAge: 1}); err != nil {
		c.Close()
		return nil, &Error{Op: "dial", Err: err}
	}
	return c, nil
}

// Close cancels all calls.
func (c *Client) Close() {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	clear(c.conns)
}

// addresses returns the masters: of a platform that was started again they are others.
func (c *Client) addresses() ([]string, error) {
	if c.masters != "" {
		return splitList(c.masters), nil
	}
	list, err := readMasters(c.dir)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: none is listed in %s", ErrNoMaster, c.dir)
	}
	return list, err
}

// conn returns the connection to an address, which all calls share.
func (c *Client) conn(addr string) (*grpc.ClientConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.conns[addr]; conn != nil {
		return conn, nil
	}
	if c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	conn, err := c.id.Dial(addr)
	if err == nil {
		c.conns[addr] = conn
	}
	return conn, err
}

// scheduleWithin is how long one master has to answer.
const scheduleWithin = 2 * time.Second

// schedule asks the masters, one after the other, for servers.
func (c *Client) schedule(ctx context.Context, m *pb.ScheduleRequest) (*pb.ScheduleReply, error) {
	list, err := c.addresses()
	if err != nil {
		return nil, err
	}
	failures := []error{ErrNoMaster}
	for _, addr := range list {
		conn, err := c.conn(addr)
		if err == nil {
			one, cancel := context.WithTimeout(ctx, scheduleWithin)
			var reply *pb.ScheduleReply
			reply, err = pb.NewAgentClient(conn).Schedule(one, m)
			cancel()
			if err == nil {
				return reply, nil
			}
			conn.ResetConnectBackoff()
		}
		failures = append(failures, fmt.Errorf("%s: %w", addr, err))
	}
	return nil, errors.Join(failures...)
}

// Offer is a service at a server, as the master knows it.
type Offer struct {
	Server  string
	Addr    string
	Service string
	Free    int           // calls that would be taken
	Wait    time.Duration // until a call would begin
	Rate    float64       // units of work a second; 0 is not known
}

// Offers returns what the platform offers, in the order of services and servers.
func (c *Client) Offers(ctx context.Context) ([]Offer, error) {
	reply, err := c.schedule(ctx, &pb.ScheduleRequest{MaxAge: 1, All: true})
	if err != nil {
		return nil, &Error{Op: "list", Err: err}
	}
	var all []Offer
	for _, e := range reply.Candidates {
		all = append(all, Offer{
			Server: e.Server.GetName(), Addr: e.Server.GetAddr(), Service: e.Service, Free: int(e.Free),
			Wait: time.Duration(e.Wait * float64(time.Second)), Rate: e.Rate,
		})
	}
	slices.SortFunc(all, func(a, b Offer) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Server, b.Server))
	})
	return all, nil
}
