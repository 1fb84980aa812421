package transport

import "github.com/goulfm/goulfm/internal/shm/segment"

// Direct reports whether large messages to and from a process may be copied directly between the
// two memories.
func (p *Port) Direct(proc int) bool { return p.pid != nil && !p.peers.At(proc).indirect }

// Processes reports whether the peers are processes, which can copy from each other.
func (p *Port) Processes() bool { return p.pid != nil }

// Indirect notes that the kernel has refused such a copy. Messages use the rings from now on.
func (p *Port) Indirect(proc int) { p.peers.At(proc).indirect = true }

// Transfer returns the account with a number in a process's arena; false: the number is invalid, or
// the arena is not mapped.
func (p *Port) Transfer(owner, number int) (segment.Transfer, bool) {
	q := p.reach(owner)
	if q.arena == nil || number < 0 || number >= segment.Transfers {
		return segment.Transfer{}, false
	}
	return q.arena.Transfer(number), true
}

// ReadFrom copies from a process's memory.
func (p *Port) ReadFrom(proc int, dst []byte, addr uint64) error {
	return segment.ReadRemote(p.pid(proc), dst, addr)
}

// WriteTo copies into a process's memory. The caller must have checked just before that no process
// has departed: the system may give the pid of a dead process to another one.
func (p *Port) WriteTo(proc int, src []byte, addr uint64) error {
	return segment.WriteRemote(p.pid(proc), src, addr)
}

// ReachAll maps the memory of every started process, except the processes on other nodes (isAway).
// Ranks that are goroutines have the memory mapped already.
func (p *Port) ReachAll(isAway func(proc int) bool) error {
	if !p.Processes() {
		return nil
	}
	for q := range p.node.Started() {
		if isAway(q) {
			continue
		}
		if err := p.Reach(q); err != nil {
			return err
		}
	}
	return nil
}

// Reach maps the memory of a process, unless it is mapped already.
func (p *Port) Reach(proc int) error {
	if p.reach(proc).arena == nil {
		return p.peers.At(proc).broken
	}
	return nil
}

// Block returns a part of the block that a process keeps for the communicator with a context index.
// That index must have a block. Between processes, a successful Reach must precede the call.
func (p *Port) Block(proc int, index uint32, part segment.Part) segment.Region {
	return p.reach(proc).arena.Block(segment.BlockOf(index), part)
}
