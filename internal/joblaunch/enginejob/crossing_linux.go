package enginejob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/remotedaemon"
	"github.com/goulfm/goulfm/internal/net/bootauth"
	"github.com/goulfm/goulfm/internal/net/socket"
)

// A crossing brings a node's daemon into a world on several nodes. The daemon is introduced to
// the coordinator, which is the daemon of rank 0, receives the job's secret, and serves its node
// for the coordinator from then on.
//
//	ranks               daemon                            coordinator
//	all of the node --> meetOthers
//	cards           --> card of the coordinator
//	                    introduction: these ranks     --> register: all nodes have come
//	                    daemonproto.Bootstrap              <-- daemonclient: the job, its secret
//	                    node daemon: Plan, Ready, Table   <-> daemonclient
//	                    adopts, Started               <-- Go
//	placed          <--
type crossing struct {
	claim       *claim // of the first rank
	host        string // for users
	birth       uint64 // of this daemon
	due         mono.Time
	id          *bootauth.Identity
	listener    net.Listener // the coordinator's listener; with cards all daemons listen until they know the coordinator
	guests      []*guest
	placings    chan<- placing
	coordinator *coordinator // nil: another daemon is the coordinator

	cancel context.CancelCauseFunc // nil: the crossing has not begun
}

// A placing is a request to give the ranks their places.
type placing struct {
	d     *daemon.Daemon
	n     *daemon.Neighbours
	nodes int
	crowd int
	done  chan error
}

// newCrossing makes the identity of this daemon for the others.
func newCrossing(c *claim, host string, due mono.Time) (x *crossing, err error) {
	x = &crossing{claim: c, host: host, birth: rand.Uint64(), due: due}
	if x.id, err = bootauth.NewIdentity(); err == nil && c.Several.Channel == byCards {
		x.listener, err = net.Listen("tcp", ":0") // a card has its port
	}
	return x, err
}

// listenAt opens the listener of a coordinator whose card the others do not have.
func listenAt(s *several, key string) (net.Listener, error) {
	var last error
	for _, at := range s.addrs(key) {
		host, port, err := net.SplitHostPort(at)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: want HOST:PORT: %w", rendezvousVariable, at, err)
		}
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			host = ""
		}
		ln, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err == nil {
			return ln, nil
		}
		last = err
	}
	return nil, fmt.Errorf("no port for the daemons of other nodes (%s=HOST:PORT names one): %w", rendezvousVariable, last)
}

// addrs returns the addresses at which the coordinator may listen, as host:port.
func (s *several) addrs(key string) []string {
	if len(s.Addrs) > 0 {
		return s.Addrs
	}
	var all []string
	for _, port := range bootauth.Ports(key) {
		all = append(all, net.JoinHostPort(s.Hosts[0], strconv.Itoa(port)))
	}
	return all
}

// card returns the card of the daemon for PMI, or an empty text.
func (x *crossing) card() string {
	if x == nil || x.claim.Several.Channel != byCards {
		return ""
	}
	own, _ := socket.OwnAddresses() // without addresses no daemon finds the coordinator, and the start times out
	return bootauth.Card{Key: x.id.Key(), Port: uint16(x.listener.Addr().(*net.TCPAddr).Port), Addrs: own}.Text()
}

func (x *crossing) add(g *guest) { x.guests = append(x.guests, g) }

// ranks returns the ranks of this node, ascending.
func (x *crossing) ranks() (all []int) {
	for _, g := range x.guests {
		all = append(all, g.claim.Rank)
	}
	slices.Sort(all)
	return all
}

// cross begins the crossing.
func (s *server) cross() {
	x := s.crossing
	x.placings = s.placings
	ctx, cancel := context.WithCancelCause(context.Background())
	x.cancel = cancel
	go func() { s.crossed <- x.run(ctx, s.cards) }()
}

// run is the whole crossing, and the life of the node after it.
func (x *crossing) run(ctx context.Context, brought <-chan *cards) error {
	var cs *cards
	if x.claim.Several.Channel == byCards {
		select {
		case cs = <-brought:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	proof, line, err := x.meetCoordinator(ctx, cs)
	switch {
	case err != nil:
		return err
	case proof != nil:
		return x.lead(ctx, proof)
	}
	return x.serve(ctx, line)
}

// meetCoordinator introduces this daemon to the coordinator and returns its answer. If this
// daemon is the coordinator, there is no answer: it listens, and returns the proof by which it
// checks the others.
func (x *crossing) meetCoordinator(ctx context.Context, cs *cards) (others bootauth.Proof, answer []byte, err error) {
	s := x.claim.Several
	proof, addrs, err := x.way(cs)
	if err != nil {
		return nil, nil, err
	}
	if !s.isCoordinator(x.ranks()) {
		if x.listener != nil {
			_ = x.listener.Close()
		}
		answer, err = bootauth.Ask(ctx, addrs, x.id, proof, x.introduction("").line())
		return nil, answer, err
	}
	if x.listener == nil {
		x.listener, err = listenAt(s, x.claim.Key)
	}
	return proof, nil, err
}

// way returns the proof between this daemon and the coordinator, and the coordinator's addresses.
func (x *crossing) way(cs *cards) (bootauth.Proof, []string, error) {
	s := x.claim.Several
	switch s.Channel {
	case byCards:
		return wayByCards(cs)
	case byMunge:
		return bootauth.Munge(x.claim.Key, os.Getuid(), ""), s.addrs(x.claim.Key), nil
	}
	file, err := bootauth.ReadSecretFile(s.Secret)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", secretVariable, err)
	}
	return bootauth.Secret(file, x.claim.Key), s.addrs(x.claim.Key), nil
}

func wayByCards(cs *cards) (bootauth.Proof, []string, error) {
	var keys [][32]byte
	var addrs []string
	for i, text := range cs.Texts {
		card, err := bootauth.ParseCard(text)
		if errors.Is(err, buildid.ErrAnother) {
			return nil, nil, buildid.Another(fmt.Sprintf("rank %d", slices.Index(cs.Of, i)))
		}
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, card.Key)
		for _, a := range card.Addrs {
			if len(cs.Of) > 0 && cs.Of[0] == i {
				addrs = append(addrs, netip.AddrPortFrom(a, card.Port).String())
			}
		}
	}
	return bootauth.Pinned(keys...), addrs, nil
}

// introduction returns this daemon's message to the coordinator.
func (x *crossing) introduction(why string) introduction {
	return introduction{Build: buildid.Build, Key: x.claim.Key, Size: x.claim.Size, Node: x.claim.Several.Node, Host: x.host, Ranks: x.ranks(), Birth: x.birth, Why: why}
}

// leads reports whether this daemon is the coordinator. After a failed start the coordinator
// stays for a while, though its ranks have received the reason: a daemon without an answer would
// ask until its timeout.
//
//	daemon of node 1    coordinator          daemon of node 2
//	                    fails          <--   rank 2 ended
//	introduction -->    has ended
//	asks again, for a minute
func (x *crossing) leads() bool { return x.claim.Several.isCoordinator(x.ranks()) }

// lead is run of the coordinator, which also serves its own node. It answers requests for as long
// as this process lives: if the start fails, with the reason.
func (x *crossing) lead(ctx context.Context, proof bootauth.Proof) error {
	h := newCoordinator(x.claim.Key, x.claim.Size, time.Duration(x.due.Sub(now())))
	x.coordinator = h
	go func() { _ = bootauth.Serve(context.Background(), x.listener, x.id, proof, h.answer) }()
	over := make(chan error, 1)
	go func() { over <- h.run(ctx, x.iface()) }()
	line, err := h.admit(x.introduction(""))
	if err == nil {
		err = x.serve(ctx, line)
	}
	return errors.Join(err, unlessSame(<-over, err))
}

// unlessSame returns other, unless it has the text of err.
func unlessSame(other, err error) error {
	if err != nil && other != nil && other.Error() == err.Error() {
		return nil
	}
	return other
}

// iface returns the address at which the coordinator listens for node daemons: all addresses,
// unless other nodes are on this machine.
func (x *crossing) iface() string {
	if ip := x.listener.Addr().(*net.TCPAddr).IP; ip.IsLoopback() {
		return ip.String()
	}
	return ""
}

// serve is the life of a node daemon.
func (x *crossing) serve(ctx context.Context, line []byte) error {
	var b daemonproto.Bootstrap
	if err := json.Unmarshal(line, &b); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	_, err := remotedaemon.Adopted(ctx, b, x)
	return err
}

// Adopt implements remotedaemon.Guests, as does Place. The daemon gets copies of the pidfds: a
// failed start still needs those of the guests.
func (x *crossing) Adopt(d *daemon.Daemon) (pids map[int]int, err error) {
	d.Expect(len(x.guests))
	if x.coordinator != nil {
		x.coordinator.own.Store(d)
	}
	pids = map[int]int{}
	for _, g := range x.guests {
		pidfd, err := copyDescriptor(g.pidfd)
		if err == nil {
			err = d.Adopt(daemon.Adoption{Number: g.claim.Rank, Pid: g.pid, Pidfd: pidfd, Line: g.conn})
		}
		d.Unexpect(1)
		if err != nil {
			return nil, fmt.Errorf("rank %d cannot be watched: %w", g.claim.Rank, err)
		}
		pids[g.claim.Rank] = g.pid
	}
	return pids, nil
}

// Place makes the server give the places, if no rank has ended meanwhile.
func (x *crossing) Place(d *daemon.Daemon, n *daemon.Neighbours, nodes, crowd int) error {
	p := placing{d, n, nodes, crowd, make(chan error, 1)}
	x.placings <- p
	return <-p.done
}

// errNoWorld is the reason why no places are given.
var errNoWorld = errors.New("the start has failed on this node")

// place gives each rank of this node its place, or returns an error if the start has failed.
func (s *server) place(p placing) error {
	s.do(s.muster.Step(met{}))
	if s.muster.state != hasStarted {
		return errNoWorld
	}
	node, arenas := p.d.Memory()
	for _, g := range s.crossing.guests {
		info := boot.Info{Job: p.d.Job(), Rank: g.claim.Rank, Size: p.d.Procs(), Ranks: p.d.Procs(), Cores: s.countCores(), Crowd: p.crowd, Mesh: &boot.Mesh{Slots: p.n.Slots}}
		_ = send(g.conn, answer{Build: buildid.Build, What: placed, Info: &info, Nodes: p.nodes}, append([]int{int(node.Fd()), int(arenas.Fd())}, p.n.Descriptors(g.claim.Rank)...)...) // otherwise the rank has died
		p.n.CloseListener(g.claim.Rank)
	}
	return nil
}

// abandon ends a crossing, and reports the reason to the coordinator.
func (x *crossing) abandon(why string) {
	switch {
	case x == nil:
	case x.cancel != nil:
		x.cancel(errors.New(why))
	case x.claim.Several.Channel != byCards && !x.claim.Several.isCoordinator(x.ranks()): // otherwise the engine ends all
		ctx, cancel := context.WithTimeout(context.Background(), lingerMax/2)
		defer cancel()
		if proof, addrs, err := x.way(nil); err == nil {
			_, _ = bootauth.Ask(ctx, addrs, x.id, proof, x.introduction(why).line())
		}
	case x.claim.Several.Channel != byCards:
		x.disappoint(why)
	}
}

// disappoint makes the coordinator answer the daemons of other nodes, for as long as this process
// lives, though it has failed before it met any of them.
func (x *crossing) disappoint(why string) {
	proof, _, err := x.meetCoordinator(context.Background(), nil)
	if err != nil {
		return // the others wait until their timeout
	}
	x.coordinator = newCoordinator(x.claim.Key, x.claim.Size, 0)
	x.coordinator.fail(errors.New(why))
	go func() { _ = bootauth.Serve(context.Background(), x.listener, x.id, proof, x.coordinator.answer) }()
}

// part is the end of a node of a world: it prints the error.
func (s *server) part(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "goulfm: daemon of %s: %v\n", s.muster.node, err)
	}
}

func textOf(err error) string {
	if err == nil {
		return "the daemons of the other nodes have left"
	}
	return err.Error()
}
