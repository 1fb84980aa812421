package boot

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
	"github.com/goulfm/goulfm/internal/socket"
	"github.com/goulfm/goulfm/internal/transport/shm"
	"github.com/goulfm/goulfm/internal/transport/tcp"
	"golang.org/x/sys/unix"
)

// openMesh attaches to the memory of the node and to the processes of all others.
func (p *Process) openMesh() error {
	table, err := readTable(p.Info.Mesh.TableFd)
	if err != nil {
		return err
	}
	trust, err := socket.NewTrust(p.Info.Job, table.Secret)
	if err != nil {
		return err
	}
	listener, err := takeListener(p.Info.Mesh.ListenFd)
	if err != nil {
		return err
	}
	peers := make([]tcp.Peer, len(table.Addrs))
	local := make([]bool, len(peers))
	for seat := range peers {
		peers[seat] = tcp.Peer{Addr: table.Addrs[seat], Birth: table.Births[seat]}
		local[seat] = table.Nodes[seat] == table.Node
	}
	me := p.Info.Proc()
	mesh, err := tcp.New(tcp.Config{Job: p.Info.Job, Me: me, Peers: peers, Trust: trust, Listener: listener,
		OnFenced: p.wasFenced, OnAnomaly: p.toldNonsense})
	if err != nil {
		return err
	}
	port, node, err := shm.OpenWith(me, p.Info.Job, uintptr(p.Info.NodeFd), uintptr(p.Info.ArenasFd), func(node *segment.Node) (park.Sleeper, error) {
		poll, others := mesh.Poll()
		return park.NewBells(node.BellOf, p.Info.Mesh.rings(node.Procs())).Owner(me, poll, others)
	})
	if err == nil {
		err = table.Check(node.Procs())
	}
	if err != nil {
		mesh.Close()
		return err
	}
	p.End, p.Node, p.Nodes = port.End(), node, table.Nodes
	mesh.SetWake(func() { p.End.Node.Notify(me, park.Caller|park.Background) })
	p.End.Link = tcp.Join(port, mesh, local)
	return nil
}

// wasFenced ends this process: a peer says that it was declared dead.
func (p *Process) wasFenced(by int) {
	if p.OnFenced != nil {
		go p.OnFenced(fmt.Sprintf("process %d says that this process was declared dead", by))
	}
}

func (p *Process) toldNonsense(peer int, text string) {
	fmt.Fprintf(os.Stderr, "goulfm: rank %d: from process %d: %s\n", p.Info.Rank, peer, text)
}

// rings returns the eventfd of each seat of the job; -1: it is of another node.
func (m *Mesh) rings(procs int) []int {
	rings := make([]int, procs)
	for seat := range rings {
		rings[seat] = -1
	}
	for i, seat := range m.Seats {
		unix.CloseOnExec(m.BellsFd + i)
		if seat >= 0 && seat < procs {
			rings[seat] = m.BellsFd + i
		}
	}
	return rings
}

func readTable(fd int) (*Table, error) {
	f := os.NewFile(uintptr(fd), "table")
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, tableMax)) // all processes of the node have one file, and one place in it
	if err != nil {
		return nil, fmt.Errorf("table of the job's processes: %w: %s", err, anothers)
	}
	var t Table
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("table of the job's processes: %w", err)
	}
	return &t, t.Check(len(t.Addrs))
}

const tableMax = 64 << 20

func takeListener(fd int) (*net.TCPListener, error) {
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	l, err := net.FileListener(f) // a copy
	if err != nil {
		return nil, fmt.Errorf("socket on which this process listens: %w: %s", err, anothers)
	}
	return l.(*net.TCPListener), nil
}
