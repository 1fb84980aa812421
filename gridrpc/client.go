package gridrpc

import (
	"cmp"
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Client calls services of one platform. It may be used by several goroutines.
type Client struct {
	id      *link.Identity
	dir     string
	member  *Membership // nil: it sees the platform's folder, or its environment names an identity
	masters string      // from the caller; "": those of the folder
	ctx     context.Context
	cancel  context.CancelFunc

	guards guards
	work   sync.WaitGroup // calls, until their cancellations have arrived

	mu     sync.Mutex
	conns  map[place]*grpc.ClientConn
	trunks map[string]*clientTrunk // that take new calls
	seats  session.Seats
	origin time.Time
	shut   bool   // no connection is made any more
	asked  string // the master that has answered last
	found  []string
	since  time.Time // when found was read
}

// DialOption configures a client.
type DialOption func(*Client)

// Detect bounds the time until a server that is stopped or cut off is given up: at least 250 ms, by
// default 30 s. A live server is wrongly suspected once in 30 days on average, where the network
// allows that. The death of a killed server is known in milliseconds in any case.
func Detect(within time.Duration) DialOption {
	return func(c *Client) { c.guards.asked = quality(within) }
}

// Dial makes a client of the platform with masters at the given addresses. It uses the certificate
// in the platform's folder, or that of the option As. With "" the masters are those in
// GRIDRPC_MASTERS, or else those of this machine's platform or of the identity.
//
// Dial asks the masters until one answers: for some seconds after the loss of a master there may be
// no root. It gives up when ctx ends, or after 30 s if ctx has no deadline, with ErrNoMaster and
// the reason of each master. A folder without a platform, ErrVersion and ErrDenied are errors at
// once.
func Dial(ctx context.Context, masters string, options ...DialOption) (*Client, error) {
	dir := DefaultDir()
	c := &Client{dir: dir, masters: masters, conns: map[place]*grpc.ClientConn{}, trunks: map[string]*clientTrunk{}, origin: time.Now()}
	c.guards = guards{asked: quality(0)}
	c.guards.begin()
	for _, o := range options {
		o(c)
	}
	if err := checkQuality(c.guards.asked); err != nil {
		return nil, &Error{Op: "dial", Err: err}
	}
	me, addresses, err := c.identify(ctx)
	if err != nil {
		return nil, &Error{Op: "dial", Err: err}
	}
	c.id = me.Identity
	if c.guards.pulse, err = heartbeat.NewObserver(c.id, heartbeatsAt(addresses)); err != nil {
		return nil, &Error{Op: "dial", Err: err}
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go me.KeepFresh(c.ctx, nil)
	if err := c.awaitMaster(ctx); err != nil {
		c.Close()
		return nil, &Error{Op: "dial", Err: err}
	}
	return c, nil
}

// identify returns the identity of the client, and the masters from the same folder.
func (c *Client) identify(ctx context.Context) (me join.Process, masters []string, err error) {
	if c.member == nil && os.Getenv(EnvIdentity) == "" { // report first that the platform is not up, the likelier mistake
		if masters, err = c.addresses(); err != nil {
			return me, nil, err
		}
	}
	var w *join.Wish
	if c.member != nil {
		wish := c.member.wish(link.Client)
		w = &wish
	}
	if me, err = join.Identify(ctx, w, c.dir, link.Client, discovery.ClientName); err == nil {
		c.dir = me.Dir
		masters, err = c.addresses()
	}
	return me, masters, err
}

// heartbeatsAt returns the address for heartbeats of servers: the one from which a master is
// reached.
func heartbeatsAt(masters []string) string {
	for _, m := range masters {
		host, _, err := net.SplitHostPort(m)
		if err != nil {
			continue
		}
		if here, err := discovery.ReachedFrom(host); err == nil {
			return net.JoinHostPort(here, "0")
		}
	}
	return discovery.ListenAt()
}

// Close cancels all calls except kept ones.
func (c *Client) Close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	told := make(chan struct{})
	go func() { defer close(told); c.work.Wait() }()
	select {
	case <-told:
	case <-time.After(abandonWithin): // a server is stopped, or a Watch calls Close
	}
	c.guards.pulse.Close()
	c.closeTrunks()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		link.HangUp(conn)
	}
	clear(c.conns)
}

// place is the destination of a connection: an address, and the role of the process there; without
// a role any process of the platform.
type place struct {
	addr string
	role link.Role
}

// conn returns the connection to an address, which all calls share. A process with another role is
// refused.
func (c *Client) conn(addr string, role link.Role) (*grpc.ClientConn, error) {
	to := place{addr, role}
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.conns[to]; conn != nil {
		return conn, nil
	}
	if c.shut {
		return nil, context.Canceled
	}
	roles := []link.Role{role}
	if role == "" {
		roles = nil
	}
	conn, err := c.id.Dial(addr, roles...)
	if err == nil {
		c.conns[to] = conn
	}
	return conn, err
}

// closeTrunks sends the remaining frames of all trunks, and waits for a while until they have
// arrived.
func (c *Client) closeTrunks() {
	c.mu.Lock()
	c.shut = true
	trunks := c.trunks
	c.trunks = map[string]*clientTrunk{}
	c.mu.Unlock()
	for _, t := range trunks {
		t.leave()
	}
	late := time.After(abandonWithin)
	for _, t := range trunks {
		select {
		case <-t.ended:
		case <-late: // a server is stopped
			late = closed
		}
		t.cancel()
	}
}

// closed is a closed channel.
var closed = func() <-chan time.Time { c := make(chan time.Time); close(c); return c }()

// now is the time of the client's rules.
func (c *Client) now() mono.Time { return mono.Time(time.Since(c.origin)) }

// sit takes a place that a call has just freed.
func (c *Client) sit(service string, work float64) (session.Seat, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seats.Take(service, work, c.now())
}

// rise frees a place for the next call.
func (c *Client) rise(seat session.Seat, took mono.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seats.Leave(seat, took, c.now())
}

// forsake retires the trunk to an address and removes the seats there, because the process is dead
// or may be.
func (c *Client) forsake(addr string) {
	c.mu.Lock()
	t := c.trunks[addr]
	c.seats.Drop(addr)
	c.mu.Unlock()
	if t != nil {
		t.retire()
	}
}

// whyLost returns why the process at an address is lost after its stream ended with err, or "" if
// it may be alive.
func (c *Client) whyLost(addr string, err error) string {
	if status.Code(err) == codes.Unimplemented {
		return "it speaks another version of the wire"
	}
	if c.id.IsOutcast(addr) {
		c.drop(addr)
		return "its token was revoked"
	}
	ctx, cancel := context.WithTimeout(c.ctx, lookWithin)
	defer cancel()
	if link.Look(ctx, addr) == link.Refuses { // this finds a killed process in milliseconds
		c.drop(addr)
		return "its machine refuses connections"
	}
	if conn, err := c.conn(addr, link.Worker); err == nil {
		conn.ResetConnectBackoff()
	}
	return ""
}

// spawn runs f in a goroutine that Close waits for. After Close it has no effect.
func (c *Client) spawn(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		go f()
		return
	}
	c.work.Go(f)
}

// drop closes the connection to a dead process, which would otherwise be dialled for ever.
func (c *Client) drop(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for to, conn := range c.conns {
		if to.addr == addr {
			delete(c.conns, to)
			link.HangUp(conn)
		}
	}
}

// schedule asks the masters for servers.
func (c *Client) schedule(ctx context.Context, m *pb.ScheduleRequest) (*pb.ScheduleReply, error) {
	return askMasters(ctx, c, func(ctx context.Context, master pb.AgentClient) (*pb.ScheduleReply, error) {
		return master.Schedule(ctx, m)
	})
}

// Offer is a service at a server, from the table of the master.
type Offer struct {
	Server  string
	Addr    string
	Service string
	Free    int           // calls that the server would accept
	Wait    time.Duration // until a call would begin
	Rate    float64       // units of work per second; 0: unknown
	Metric  float64       // the value of the option Metric
}

// Offers returns all services of the platform, in the order of services and servers.
func (c *Client) Offers(ctx context.Context) ([]Offer, error) {
	reply, err := c.schedule(ctx, &pb.ScheduleRequest{All: true})
	if err != nil {
		return nil, &Error{Op: "list", Err: err}
	}
	var all []Offer
	for _, e := range reply.Candidates {
		all = append(all, Offer{
			Server: e.Server.GetName(), Addr: e.Server.GetAddr(), Service: e.Service, Free: int(e.Free),
			Wait: time.Duration(e.Wait * float64(time.Second)), Rate: e.Rate, Metric: e.Metric,
		})
	}
	slices.SortFunc(all, func(a, b Offer) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Server, b.Server))
	})
	return all, nil
}
