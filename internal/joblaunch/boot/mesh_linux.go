package boot

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/shm"
	"github.com/goulfm/goulfm/internal/net/transport/tcp"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"golang.org/x/sys/unix"
)

// openMesh attaches to the memory of the node and to the processes of all other nodes.
func (p *Process) openMesh() error {
	reader, err := openTable(p.Info.Mesh.TableFd)
	if err != nil {
		return err
	}
	table := reader.t
	trust, err := socket.NewTrust(p.Info.Job, table.Secret)
	if err != nil {
		return err
	}
	mode, err := socket.ParseMode(table.Secure)
	if err != nil {
		return fmt.Errorf("how to talk to other nodes: %w", err)
	}
	listener, err := takeListener(p.Info.Mesh.ListenFd)
	if err != nil {
		return err
	}
	local := make([]bool, len(table.Addrs))
	for slot := range local {
		local[slot] = table.Nodes[slot] == table.Node
	}
	me := p.Info.Proc()
	mesh, err := tcp.New(tcp.Config{Job: p.Info.Job, Me: me, Generation: p.Info.Mesh.Generation, Peers: reader.peers(), Find: reader.finder(), Trust: trust, Secure: mode, Listener: listener,
		OnFenced: p.wasFenced, OnAnomaly: p.toldNonsense, OnUnmet: p.isUnmet, OnMet: p.hasMet})
	if err != nil {
		return err
	}
	port, node, err := shm.OpenWith(me, p.Info.Job, uintptr(p.Info.NodeFd), uintptr(p.Info.ArenasFd), func(node *segment.Node) (park.Sleeper, error) {
		if err := errors.Join(table.Check(node.Procs()), p.Info.Mesh.check(node.Procs())); err != nil {
			return nil, err
		}
		poll, others := mesh.Poll()
		return park.NewBells(node.BellOf, node.Procs(), p.Info.Mesh.Slots, p.Info.Mesh.bells()).Owner(me, poll, others)
	})
	if err != nil {
		mesh.Close()
		return err
	}
	p.End, p.Node, p.Nodes = port.End(), node, table.Nodes
	mesh.SetGenerations(node.Generation)
	mesh.SetWake(func() { p.End.Node.Notify(me, park.Caller|park.Background) })
	p.End.Link = tcp.Join(port, mesh, local)
	p.meet = func(m rankproto.Meet) { mesh.Asked(m.Proc, transport.Class(m.Lane)) }
	return nil
}

// isUnmet asks a process of another node, which this one cannot dial, to dial this one.
func (p *Process) isUnmet(u tcp.Unmet) {
	p.Say(rankproto.Unmet{Proc: u.Peer, Lane: int(u.Class), Addr: u.Addr, Why: u.Why})
}

// hasMet withdraws the request of isUnmet.
func (p *Process) hasMet(peer int, class transport.Class) {
	p.Say(rankproto.Unmet{Proc: peer, Lane: int(class), Over: true})
}

// wasFenced calls OnFenced: a peer reports that this process was declared dead.
func (p *Process) wasFenced(by int) {
	if p.OnFenced != nil {
		go p.OnFenced(fmt.Sprintf("process %d says that this process was declared dead", by))
	}
}

func (p *Process) toldNonsense(peer int, text string) {
	fmt.Fprintf(os.Stderr, "goulfm: rank %d: from process %d: %s\n", p.Info.Rank, peer, text)
}

// check returns the fault in a mesh of a job of procs slots, or nil.
func (m *Mesh) check(procs int) error {
	if len(m.BellFds) != len(m.Slots) {
		return fmt.Errorf("%d doorbells for %d slots", len(m.BellFds), len(m.Slots))
	}
	for _, slot := range m.Slots {
		if slot < 0 || slot >= procs {
			return fmt.Errorf("slot %d of %d", slot, procs)
		}
	}
	return nil
}

// bells returns the eventfds of the slots of the node.
func (m *Mesh) bells() []int {
	for _, fd := range m.BellFds {
		unix.CloseOnExec(fd)
	}
	return m.BellFds
}

func takeListener(fd int) (*net.TCPListener, error) {
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	l, err := net.FileListener(f) // a copy
	if err != nil {
		return nil, badDescriptor(fd, "the socket on which this process listens", err)
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		l.Close()
		return nil, badDescriptor(fd, "the socket on which this process listens", unix.EPROTOTYPE)
	}
	return tcp, nil
}
