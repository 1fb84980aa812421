package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/daemon"
	"github.com/goulfm/goulfm/internal/orders"
	"github.com/goulfm/goulfm/internal/socket"
)

// Config says which nodes a job has.
type Config struct {
	Names   []string // of the nodes, for people and for the Starter
	Nodes   []int    // by seat: its node
	Starter Starter
	Within  time.Duration // all daemons must be there
	Version string        // of this program: daemons have the same
	Iface   string        // address at which the launcher listens; empty: all of this machine
}

// A Starter starts the daemon of a node.
type Starter interface {
	// Start starts it, and writes bootstrap, a line, to its standard input. End ends what it has
	// started on this machine. Failed is told why the daemon has ended, should it.
	Start(node int, name string, bootstrap []byte, failed func(error)) (end func(), err error)
}

// New starts the daemons of all nodes and returns when they are ready. An error names every node
// that is not; nothing of them runs on then.
func New(ctx context.Context, host daemon.Host, cfg Config) (*Fleet, error) {
	f := &Fleet{host: host, procs: len(cfg.Nodes), of: cfg.Nodes, processes: map[int]*process{},
		ended: make(chan struct{}), halted: make(chan struct{})}
	m, err := f.newMuster(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.listener.Close() }()
	for i, name := range cfg.Names {
		f.nodes = append(f.nodes, &node{f: f, index: i, name: name, seats: seatsOf(cfg.Nodes, i),
			begun: make(chan orders.Begun, 1), settled: make(chan struct{}), lost: make(chan struct{})})
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Within)
	defer cancel()
	if err := m.gather(ctx); err != nil {
		f.Close()
		return nil, err
	}
	for _, n := range f.nodes {
		go n.listen()
	}
	return f, nil
}

// A muster is the start of the daemons.
type muster struct {
	f        *Fleet
	cfg      Config
	secret   []byte
	birth    uint64
	trust    *socket.Trust
	listener *net.TCPListener
	arrived  chan arrival
	failed   chan failure
}

// An arrival is a daemon that has said Hello.
type arrival struct {
	hello orders.Hello
	conn  net.Conn
	in    *orders.Reader
}

type failure struct {
	node int
	err  error
}

func (f *Fleet) newMuster(cfg Config) (*muster, error) {
	m := &muster{f: f, cfg: cfg, secret: make([]byte, socket.SecretSize), arrived: make(chan arrival), failed: make(chan failure, len(cfg.Names))}
	_, _ = rand.Read(m.secret)
	f.job, m.birth = daemon.NewIdentity(), daemon.NewIdentity()
	var err error
	if m.trust, err = socket.NewTrust(f.job, m.secret); err != nil {
		return nil, err
	}
	m.listener, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(m.cfg.Iface)})
	return m, err
}

// gather starts the daemons, and has all of them ready.
func (m *muster) gather(ctx context.Context) error {
	go m.accept(ctx)
	heads, err := m.heads()
	if err != nil {
		return err
	}
	for _, n := range m.f.nodes {
		boot, err := json.Marshal(orders.Bootstrap{Job: m.f.job, Secret: m.secret, Node: n.index, Heads: heads, Birth: m.birth})
		if err != nil {
			return err
		}
		if n.end, err = m.cfg.Starter.Start(n.index, n.name, append(boot, '\n'), func(err error) { m.failed <- failure{n.index, err} }); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	if err := m.awaitHellos(ctx, heads); err != nil {
		return err
	}
	return m.exchange()
}

// heads returns the addresses at which the launcher listens, those of this machine alone last.
func (m *muster) heads() (heads []string, err error) {
	at := m.listener.Addr().(*net.TCPAddr)
	if !at.IP.IsUnspecified() {
		return []string{at.String()}, nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []string
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLinkLocalUnicast() {
			continue
		}
		head := net.JoinHostPort(ip.IP.String(), strconv.Itoa(at.Port))
		if ip.IP.IsLoopback() {
			own = append(own, head)
		} else {
			heads = append(heads, head)
		}
	}
	return append(heads, own...), nil
}

// accept lets daemons in.
func (m *muster) accept(ctx context.Context) {
	for {
		conn, err := m.listener.AcceptTCP()
		if err != nil {
			return
		}
		go func() {
			if err := m.admit(ctx, conn); err != nil {
				conn.Close()
			}
		}()
	}
}

func (m *muster) admit(ctx context.Context, conn *net.TCPConn) error {
	if err := m.trust.Accept(conn, m.birth); err != nil {
		return err
	}
	in := orders.NewReader(conn)
	said, err := in.Next()
	if err != nil {
		return err
	}
	hello, ok := said.(orders.Hello)
	if !ok {
		return fmt.Errorf("%w: no hello", orders.ErrMessage)
	}
	select {
	case m.arrived <- arrival{hello, conn, in}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitHellos waits until all daemons are there.
func (m *muster) awaitHellos(ctx context.Context, heads []string) error {
	for missing := len(m.f.nodes); missing > 0; {
		select {
		case a := <-m.arrived:
			if a.hello.Node < 0 || a.hello.Node >= len(m.f.nodes) || m.f.nodes[a.hello.Node].conn != nil {
				a.conn.Close()
				continue
			}
			n := m.f.nodes[a.hello.Node]
			n.conn, n.in, n.mouth = a.conn, a.in, orders.NewMouth(a.conn)
			if a.hello.Version != m.cfg.Version {
				return fmt.Errorf("%s has goulfm %s, and this is %s: install the same version there", n, a.hello.Version, m.cfg.Version)
			}
			missing--
		case fail := <-m.failed:
			return fmt.Errorf("%s: its daemon could not start: %w", m.f.nodes[fail.node], fail.err)
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s within %s: is goulfm installed there, and does it reach one of %v? (--iface, --start-timeout)", m.missing(), m.cfg.Within, heads)
		}
	}
	return nil
}

// missing names the nodes whose daemons are not there.
func (m *muster) missing() string {
	var names []string
	for _, n := range m.f.nodes {
		if n.conn == nil {
			names = append(names, n.String())
		}
	}
	return strings.Join(names, ", ")
}

// exchange tells each daemon what it serves, and all of them where everybody listens.
func (m *muster) exchange() error {
	table := orders.Table{Addrs: make([]string, m.f.procs), Births: make([]uint64, m.f.procs), Nodes: m.f.of}
	for _, n := range m.f.nodes {
		n.mouth.Say(orders.Plan{Procs: m.f.procs, Seats: n.seats})
	}
	for _, n := range m.f.nodes {
		if err := n.awaitReady(); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
		for i, seat := range n.seats {
			table.Addrs[seat], table.Births[seat] = n.ready.Addrs[i], n.ready.Births[i]
		}
	}
	m.f.tellAll(table)
	return nil
}

func (n *node) awaitReady() error {
	said, err := n.in.Next()
	if err != nil {
		return err
	}
	switch r := said.(type) {
	case orders.Failed:
		return errors.New(r.Why)
	case orders.Ready:
		if len(r.Addrs) == len(n.seats) && len(r.Births) == len(n.seats) {
			n.ready = r
			return nil
		}
	}
	return fmt.Errorf("%w: not ready", orders.ErrMessage)
}
