package transport

import "github.com/goulfm/goulfm/internal/shm/segment"

// Direct says whether large messages to and from a process may be copied straight
// between the two memories.
func (p *Port) Direct(proc int) bool { return p.pid != nil && !p.peers.At(proc).indirect }

// Processes says whether the peers are processes, which can copy from each other.
func (p *Port) Processes() bool { return p.pid != nil }

// Indirect notes that the kernel refused such a copy: from now on messages go
// through the rings.
func (p *Port) Indirect(proc int) { p.peers.At(proc).indirect = true }

// Transfer returns the account of that number in a process's arena, or false
// where it makes no sense.
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

// WriteTo copies into a process's memory. The caller has just seen that nobody has
// departed: the number of a process that is gone may be another's.
func (p *Port) WriteTo(proc int, src []byte, addr uint64) error {
	return segment.WriteRemote(p.pid(proc), src, addr)
}

// ReachAll maps the memory of every process that has been started, but of those that are away, on
// other nodes; ranks that are goroutines have it mapped.
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

// Reach maps the memory of a process, if that has not been done.
func (p *Port) Reach(proc int) error {
	if p.reach(proc).arena == nil {
		return p.peers.At(proc).broken
	}
	return nil
}

// Block returns a part of the memory that a process keeps for the communicator of a
// context index that has a block there. Between processes Reach comes before, and finds nothing
// wrong.
func (p *Port) Block(proc int, index uint32, part segment.Part) segment.Region {
	return p.reach(proc).arena.Block(segment.BlockOf(index), part)
}
