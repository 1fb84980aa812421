package tcp

import "github.com/goulfm/goulfm/internal/net/transport"

// A Link joins the rings of a process's node and the mesh: frames to a process of this node use
// rings in memory, all others use the mesh.
type Link struct {
	port  *transport.Port
	mesh  *Mesh
	local []bool // by slot: true if on this node
	away  []bool // the negation of local
}

// Join returns the link of a process. For each slot, local is true if the slot is on this node, as
// the own slot is.
func Join(port *transport.Port, mesh *Mesh, local []bool) *Link {
	l := &Link{port: port, mesh: mesh, local: local, away: make([]bool, len(local))}
	for slot, near := range local {
		if l.away[slot] = !near; !near {
			port.Indirect(slot)
		}
	}
	return l
}

// to returns the link to a process.
func (l *Link) to(proc int) transport.Link {
	if l.local[proc] {
		return l.port
	}
	return remote{l.mesh}
}

// remote adds to the mesh the methods that only rings have.
type remote struct{ *Mesh }

// Watch returns nil: there is no word to watch, the socket must be read.
func (remote) Watch(int) (*uint64, uint64) { return nil, 0 }

// Near returns the port to the processes of this node.
func (l *Link) Near() *transport.Port { return l.port }

// Away reports for each slot whether its process is on another node. Such a process has no word to
// watch, and Peek calls the kernel.
func (l *Link) Away() []bool { return l.away }

// TrySend implements transport.Link, like the following methods.
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

// Written reports whether the kernel has all frames sent to processes of other nodes.
func (l *Link) Written() bool { return l.mesh.written() }

// PutBack makes NextControl return its last frame from a process of another node once more.
func (l *Link) PutBack(proc int) { l.mesh.lanes[transport.Control][proc].isPutBack = true }

// WriteOut writes the gathered frames to a process of another node.
func (l *Link) WriteOut(proc int) {
	if l.away[proc] {
		l.mesh.WriteOut(proc)
	}
}

// WriteAllOut is WriteOut for all processes.
func (l *Link) WriteAllOut() { l.mesh.writeGathered() }

// Part begins the goodbye to the processes of other nodes. After Part, this process sends them
// nothing.
func (l *Link) Part() { l.mesh.Part() }

// Parted reports whether all goodbyes are complete; gone reports whether a process has departed.
func (l *Link) Parted(gone func(proc int) bool) bool { return l.mesh.Parted(gone) }

// Describe returns the state of the connections for people.
func (l *Link) Describe() []string { return l.mesh.Describe() }
