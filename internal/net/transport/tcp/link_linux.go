package tcp

import "github.com/goulfm/goulfm/internal/net/transport"

// A Link joins what a process has of its node with what it has of others: frames to a process of
// this node go over rings in memory, all others over the mesh.
type Link struct {
	port  *transport.Port
	mesh  *Mesh
	local []bool // by slot: it is on this node
	away  []bool // it is not
}

// Join returns the link of a process; local says of each slot whether it is on this node, itself
// among them.
func Join(port *transport.Port, mesh *Mesh, local []bool) *Link {
	l := &Link{port: port, mesh: mesh, local: local, away: make([]bool, len(local))}
	for slot, near := range local {
		if l.away[slot] = !near; !near {
			port.Indirect(slot)
		}
	}
	return l
}

// to returns what leads to a process.
func (l *Link) to(proc int) transport.Link {
	if l.local[proc] {
		return l.port
	}
	return remote{l.mesh}
}

// remote is the mesh with what only rings have.
type remote struct{ *Mesh }

// Watch says that there is no word to watch: the socket must be read.
func (remote) Watch(int) (*uint64, uint64) { return nil, 0 }

// Near returns what leads to the processes of this node.
func (l *Link) Near() *transport.Port { return l.port }

// Away says of each slot whether its process is on another node: there is no word to watch, and
// Peek asks the kernel.
func (l *Link) Away() []bool { return l.away }

// TrySend implements transport.Link, as do the others.
func (l *Link) TrySend(to int, h *transport.Header, payload []byte) bool {
	return l.to(to).TrySend(to, h, payload)
}

// Peek implements transport.Link.
func (l *Link) Peek(from int) (transport.Frame, bool) { return l.to(from).Peek(from) }

// Advance implements transport.Link.
func (l *Link) Advance(from int) { l.to(from).Advance(from) }

// TryControl implements transport.Link.
func (l *Link) TryControl(to int, frame []byte, sent int) int {
	return l.to(to).TryControl(to, frame, sent)
}

// NextControl implements transport.Link.
func (l *Link) NextControl(from int) ([]byte, bool) { return l.to(from).NextControl(from) }

// Take implements transport.Link.
func (l *Link) Take(c transport.Class, dst []int) []int {
	return l.mesh.Take(c, l.port.Take(c, dst))
}

// Pending implements transport.Link.
func (l *Link) Pending(except int) bool { return l.port.Pending(except) || l.mesh.Pending(except) }

// Watch implements transport.Link.
func (l *Link) Watch(from int) (word *uint64, want uint64) { return l.to(from).Watch(from) }

// WantRoom implements transport.Link.
func (l *Link) WantRoom(to int, want bool) { l.to(to).WantRoom(to, want) }

// Sweep implements transport.Link.
func (l *Link) Sweep(from int) { l.to(from).Sweep(from) }

// CreditReturned implements transport.Link.
func (l *Link) CreditReturned(to int) uint64 { return l.to(to).CreditReturned(to) }

// ReturnCredit implements transport.Link.
func (l *Link) ReturnCredit(from int, total uint64) { l.to(from).ReturnCredit(from, total) }

// CloseControl implements transport.Link.
func (l *Link) CloseControl(proc int) { l.to(proc).CloseControl(proc) }

// CloseData implements transport.Link.
func (l *Link) CloseData(proc int) { l.to(proc).CloseData(proc) }

// CloseAll implements transport.Link.
func (l *Link) CloseAll() {
	l.port.CloseAll()
	l.mesh.CloseAll()
}

// Broken implements transport.Link.
func (l *Link) Broken(proc int) error { return l.to(proc).Broken(proc) }

// Written says whether all that was sent to processes of other nodes is in the hands of the kernel.
func (l *Link) Written() bool { return l.mesh.written() }

// PutBack has NextControl return once more what it returned last from a process of another node.
func (l *Link) PutBack(proc int) { l.mesh.lanes[transport.Control][proc].isPutBack = true }

// WriteOut writes what was sent to a process of another node and waits for more to go with.
func (l *Link) WriteOut(proc int) {
	if l.away[proc] {
		l.mesh.WriteOut(proc)
	}
}

// WriteAllOut is WriteOut for all processes.
func (l *Link) WriteAllOut() { l.mesh.writeGathered() }

// Part begins to take leave of the processes of other nodes: nothing is sent to them any more.
func (l *Link) Part() { l.mesh.Part() }

// Parted says whether they have let go; gone says of a process that it has departed.
func (l *Link) Parted(gone func(proc int) bool) bool { return l.mesh.Parted(gone) }

// Describe says for people how the connections stand.
func (l *Link) Describe() []string { return l.mesh.Describe() }
