package daemonclient

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// Config describes the nodes of a job.
type Config struct {
	Names   []string // of the nodes, for people and for the Starter
	Racks   []string // of the nodes; "": not known. Nil: the racks that the daemons report
	Late    int      // so many more nodes may come when the job runs: see Invite
	Nodes   []int    // by slot: its node; those that may come are the last ones
	Ranks   int      // with which the job begins
	Starter Starter
	Within  time.Duration // all daemons must be there
	Iface   string        // address at which the launcher listens; empty: all of this machine
	Beats   daemonproto.Beats
	Secure  socket.Mode // of all connections

	// Homes is for how many ranks each node has memory that outlives processes: see daemon.New.
	Homes int
	// Program is the file of this machine that processes execute; nodes that do not have the file
	// receive it. Empty: all nodes have the program.
	Program string
	// Cuts are the ways that Cut may cut: of a job on this machine, connections between two members
	// of a way use relays.
	Cuts []Way
	// OutputDir is the folder for the output of processes, on their nodes; empty: the output is
	// sent to the launcher.
	OutputDir string
	// Came is called when a node has joined late: its slots are free. Nothing waits for processes
	// to be started meanwhile.
	Came func()
	// Unwritten is called when output is lost that a node was to write to OutputDir.
	Unwritten func(error)
	// Deserted is called when the job continues without this launcher, which was declared dead. It
	// is for Beats.Survive.
	Deserted func(why string)
}

// New starts the daemons of all nodes and returns when they are ready. An error names every node
// that is not; nothing of them runs on then.
func New(ctx context.Context, host daemon.Host, cfg Config) (*Client, error) {
	f := &Client{host: host, procs: len(cfg.Nodes), of: cfg.Nodes, survive: cfg.Beats.Survive, deserted: cfg.Deserted, unwritten: cfg.Unwritten, processes: map[int]*process{}, printing: map[int]*process{}, used: make([]int, len(cfg.Nodes)),
		ended: make(chan struct{}), halted: make(chan struct{})}
	_, f.isLocal = cfg.Starter.(Local)
	if len(cfg.Cuts) > 0 {
		f.wires = newWires(cfg.Cuts)
	}
	cargo, err := load(cfg.Program)
	if err != nil {
		return nil, err
	}
	m, err := f.newMuster(cfg)
	if err != nil {
		cargo.close()
		return nil, err
	}
	m.cargo = cargo
	for i, name := range append(slices.Clone(cfg.Names), make([]string, cfg.Late)...) {
		n := newNode(f, i, name)
		n.state.Store(int32(isAbsent))
		if i < len(cfg.Names) {
			n.state.Store(int32(isThere))
		}
		f.nodes = append(f.nodes, n)
	}
	f.late.begin(m)
	ctx, cancel := context.WithTimeout(ctx, cfg.Within)
	defer cancel()
	if err := m.gather(ctx); err != nil {
		f.Close()
		m.place.Close()
		return nil, err
	}
	for _, n := range f.there() {
		go n.listen()
	}
	if cfg.Late > 0 {
		go f.late.admit()
		if d, ok := cfg.Starter.(Doorkeeper); ok {
			d.Opens(f.Invite)
		}
	} else {
		f.late.end()
	}
	return f, nil
}

// A muster is the start of the daemons.
type muster struct {
	f        *Client
	cfg      Config
	secret   []byte
	birth    uint64
	trust    *socket.Trust
	listener *net.TCPListener
	place    *membershiphost.Place // where daemons reach the launcher's Driver
	arrived  chan arrival
	failed   chan failure
	cargo    *cargo // nil: all nodes have the program
	racks    []int  // of the nodes, as numberRacks returns them

	streams socket.Lastings
	// the address of the daemon at the other end of a stream: *socket.Lasting, string
	ports sync.Map
}

// An arrival is a daemon that has sent Hello.
type arrival struct {
	hello daemonproto.Hello
	conn  *socket.Lasting
	in    *daemonproto.Reader
}

type failure struct {
	node int
	err  error
}

func (f *Client) newMuster(cfg Config) (*muster, error) {
	m := &muster{f: f, cfg: cfg, secret: make([]byte, socket.SecretSize), arrived: make(chan arrival), failed: make(chan failure, len(cfg.Names))}
	_, _ = rand.Read(m.secret)
	f.job, m.birth = daemon.NewIdentity(), daemon.NewIdentity()
	var err error
	if m.trust, err = socket.NewTrust(f.job, m.secret); err != nil {
		return nil, err
	}
	if m.trust, err = m.trust.In(cfg.Secure); err != nil {
		return nil, err
	}
	if m.listener, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(m.cfg.Iface)}); err != nil {
		return nil, err
	}
	if m.place, err = membershiphost.Open(net.ParseIP(m.cfg.Iface)); err != nil {
		_ = m.listener.Close()
	}
	return m, err
}

// gather starts the daemons, and returns when all of them are ready.
func (m *muster) gather(ctx context.Context) error {
	go m.trust.Serve(m.listener, m.birth, func(conn *socket.Conn) {
		if stream := m.streams.Admit(conn, m.broken); stream != nil && m.admit(stream) != nil {
			stream.Close()
		}
	})
	addrs, err := m.addrs()
	if err != nil {
		return err
	}
	for _, n := range m.f.there() {
		addrs, err := m.addrsFor(n, addrs)
		if err != nil {
			return err
		}
		boot, err := m.bootstrap(n, addrs)
		if err != nil {
			return err
		}
		if n.end, err = m.cfg.Starter.Start(n.index, n.name, append(boot, '\n'), func(err error) {
			select {
			case n.excuse <- err:
			default:
			}
			m.failed <- failure{n.index, err}
		}); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	if err := m.awaitHellos(ctx, addrs); err != nil {
		return err
	}
	return m.exchange()
}

// bootstrap is the first message to the daemon of a node.
func (m *muster) bootstrap(n *node, addrs []string) ([]byte, error) {
	return json.Marshal(daemonproto.Bootstrap{Job: m.f.job, Secret: m.secret, Node: n.index, Addrs: addrs, Birth: m.birth, Secure: m.cfg.Secure.String(), Late: n.is(isInvited), Build: buildid.Build})
}

// addrs returns the addresses at which the launcher listens, those of this machine alone last.
func (m *muster) addrs() (addrs []string, err error) {
	at := m.listener.Addr().(*net.TCPAddr)
	if !at.IP.IsUnspecified() {
		return []string{at.String()}, nil
	}
	ips, err := socket.OwnAddresses()
	for _, ip := range ips {
		addrs = append(addrs, net.JoinHostPort(ip.String(), strconv.Itoa(at.Port)))
	}
	return addrs, err
}

// addrsFor returns where a node reaches the launcher.
func (m *muster) addrsFor(n *node, addrs []string) ([]string, error) {
	if m.f.wires == nil || m.f.wires.isDirect(Way{n.index + 1, membership.Launcher}) {
		return addrs, nil
	}
	addr, err := m.f.wires.stream(Way{n.index + 1, membership.Launcher}, addrs[0])
	return []string{addr}, err
}

// admit learns the daemon at the other end of a connection.
func (m *muster) admit(conn *socket.Lasting) error {
	in := daemonproto.NewReader(conn)
	said, err := in.Next()
	if err != nil {
		return err
	}
	hello, ok := said.(daemonproto.Hello)
	if !ok {
		return fmt.Errorf("%w: no hello", daemonproto.ErrMessage)
	}
	select {
	case m.arrived <- arrival{hello, conn, in}:
		return nil
	case <-m.f.late.over:
		return errOver
	}
}

// awaitHellos waits until all daemons are there.
func (m *muster) awaitHellos(ctx context.Context, addrs []string) error {
	for missing := len(m.cfg.Names); missing > 0; {
		select {
		case a := <-m.arrived:
			if a.hello.Node < 0 || a.hello.Node >= len(m.cfg.Names) || m.f.nodes[a.hello.Node].conn != nil {
				a.conn.Close()
				continue
			}
			if err := m.meet(m.f.nodes[a.hello.Node], a); err != nil {
				return err
			}
			missing--
		case fail := <-m.failed:
			return fmt.Errorf("%s: its daemon could not start: %w", m.f.nodes[fail.node], fail.err)
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s within %s: is goulfm installed there, and does it reach one of %v? (--iface, --start-timeout)", m.missing(), m.cfg.Within, addrs)
		}
	}
	return nil
}

// broken determines whether the daemon of a stream without connection has ended: then its port
// refuses connections. A live daemon dials again, and loses nothing. If neither happens, the
// membership rules find the daemon silent.
func (m *muster) broken(stream *socket.Lasting) {
	for since := time.Now(); stream.IsBroken(); time.Sleep(probeEvery) {
		addr, known := m.ports.Load(stream)
		if !known {
			if time.Since(since) > m.cfg.Within {
				stream.Fail(errLost) // it has not identified itself
			}
			continue
		}
		conn, err := net.DialTimeout("tcp", addr.(string), probeFor)
		if err == nil {
			conn.Close()
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			stream.Fail(errLost)
		}
	}
}

// The interval of probes of the port of a daemon with a stream without connection, and the limit of
// each probe.
const (
	probeEvery = 10 * time.Millisecond
	probeFor   = time.Second
)

// meet has a node be that of a daemon.
func (m *muster) meet(n *node, a arrival) error {
	n.conn, n.in, n.mouth = a.conn, a.in, daemonproto.NewMouth(a.conn)
	m.ports.Store(a.conn, a.hello.Member.Addr)
	n.member, n.pid = a.hello.Member, a.hello.Pid
	n.cores, n.kernel, n.arch, n.rack = a.hello.Cores, a.hello.Kernel, a.hello.Arch, a.hello.Rack
	if a.hello.Build != buildid.Build {
		return buildid.Another(n.String())
	}
	return nil
}

// missing names the nodes without a daemon.
func (m *muster) missing() string {
	var names []string
	for _, n := range m.f.there() {
		if n.conn == nil {
			names = append(names, n.String())
		}
	}
	return strings.Join(names, ", ")
}

// exchange sends each daemon its plan, and all of them the addresses of all.
func (m *muster) exchange() error {
	for _, n := range m.f.there() {
		n.mouth.Say(m.plan(n))
	}
	for _, n := range m.f.there() {
		if err := n.awaitReady(); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	if err := m.ship(); err != nil {
		return err
	}
	m.racks = m.numberRacks()
	table := m.table()
	for _, n := range m.f.there() {
		table.Members = m.members(n)
		own := table
		if m.f.wires != nil {
			var err error
			if own, err = m.f.wires.table(table, n.index+1); err != nil {
				return err
			}
		}
		n.mouth.Say(own)
	}
	return m.watch()
}

// plan returns the plan for a node.
func (m *muster) plan(n *node) daemonproto.Plan {
	return daemonproto.Plan{Procs: m.f.procs, Slots: n.slots, OutputDir: m.cfg.OutputDir, Program: m.cargo.programFor(n), Homes: m.cfg.Homes}
}

// table returns the addresses of the slots of all nodes that are there, or were.
func (m *muster) table() daemonproto.Table {
	table := daemonproto.Table{Addrs: make([]string, m.f.procs), Births: make([]uint64, m.f.procs), Nodes: m.f.of, Beats: m.cfg.Beats, Crowd: m.crowd(), Racks: m.racks}
	for _, n := range m.f.nodes {
		if !n.is(isThere) {
			table.Absent = append(table.Absent, n.index)
			continue
		}
		for i, slot := range n.slots {
			table.Addrs[slot], table.Births[slot] = n.ready.Addrs[i], n.ready.Births[i]
		}
	}
	return table
}

// numberRacks returns the number of the rack of each node, 0 where the rack is not known, and nil
// where no rack is known. Racks that the launcher was given replace the racks that daemons report.
// All members must have the same racks from the start on (membership.Config.Racks), so the rack of
// a node that comes late is not known.
func (m *muster) numberRacks() []int {
	racks, numbers := make([]int, len(m.f.nodes)), map[string]int{}
	for i, n := range m.f.nodes {
		name := n.rack
		if m.cfg.Racks != nil {
			name = ""
			if i < len(m.cfg.Racks) {
				name = m.cfg.Racks[i]
			}
		}
		if name == "" {
			continue
		}
		if numbers[name] == 0 {
			numbers[name] = len(numbers) + 1
		}
		racks[i] = numbers[name]
	}
	if len(numbers) == 0 {
		return nil
	}
	return racks
}

// ship sends the program to all nodes that lack it, at the same time.
func (m *muster) ship() error {
	errs := make([]error, len(m.f.nodes))
	var sending sync.WaitGroup
	for i, n := range m.f.there() {
		if n.ready.Lacks && m.cargo != nil {
			sending.Go(func() { errs[i] = m.cargo.ship(n) })
		}
	}
	sending.Wait()
	return errors.Join(errs...)
}

// crowd is how many of the first ranks share a core, rounded up, where that is the most. Nodes of
// one kernel share its cores.
func (m *muster) crowd() (most int) {
	ranks, cores := map[string]int{}, map[string]int{}
	for _, node := range m.cfg.Nodes[:m.cfg.Ranks] {
		ranks[m.f.nodes[node].kernel]++
	}
	for _, n := range m.f.there() {
		cores[n.kernel] = max(cores[n.kernel], n.cores, 1)
	}
	for kernel, n := range ranks {
		most = max(most, (n+cores[kernel]-1)/cores[kernel])
	}
	return most
}

func (n *node) awaitReady() error {
	said, err := n.in.Next()
	if err != nil {
		return err
	}
	switch r := said.(type) {
	case daemonproto.Failed:
		return errors.New(r.Why)
	case daemonproto.Ready:
		if len(r.Addrs) == len(n.slots) && len(r.Births) == len(n.slots) {
			n.ready = r
			return nil
		}
	}
	return fmt.Errorf("%w: not ready", daemonproto.ErrMessage)
}
