package engine

import "sync/atomic"

// A service makes progress on one kind of work that is neither a message nor an agreement by
// messages: the engine serves each of them at the same places, in the order of its services. A
// poller reads one word of all (busy), and calls a service only if its bit is set.
type service interface {
	// progress lets everything that has arrived take effect, and reports whether anything did. mu
	// is held.
	progress() bool
	// attention reports whether there is something to do. The engine calls attention before each
	// sleep, without mu.
	attention() bool
	// peerDied ends the work that needs a process that has died, after its requests have ended. mu
	// is held.
	peerDied(proc int)
	// commEnded is notified that the requests on a communicator have been ended. mu is held.
	commEnded(c *Comm)
	// waitsFor returns the ranks that a request waits for; false: it is of another kind. mu is
	// held.
	waitsFor(r *Request) (ranks []int, mine bool)
}

// The services by their place in Proc.services, which is that of their bit in busy.
const (
	servesTransfers = iota // messages from memory to memory
	servesMemory           // agreements and collectives in the memory of the node
	servesSchedules        // collectives by messages
	servesOneSided         // windows of others by messages
	servicesCount
)

// busy has a bit for each service with work under way. Writers hold mu; any goroutine may read.
type busy struct{ word atomic.Uint32 }

func (b *busy) set(service int, works bool) {
	v := b.word.Load() &^ (1 << service)
	if works {
		v |= 1 << service
	}
	b.word.Store(v)
}

func (b *busy) has(service int) bool { return b.word.Load()&(1<<service) != 0 }

// any reports whether a service has work under way, beside that in memory if memory is false.
func (b *busy) any(memory bool) bool {
	v := b.word.Load()
	if !memory {
		v &^= 1 << servesMemory
	}
	return v != 0
}

// serve lets services make progress that have work under way.
func (p *Proc) serve() bool {
	did := false
	for i := range p.services {
		if p.busy.has(i) {
			did = p.services[i].progress() || did
		}
	}
	return did
}

// needsService reports whether a service has something to do. The caller does not hold mu.
func (p *Proc) needsService() bool {
	if p.busy.word.Load() == 0 {
		return false
	}
	for i := range p.services {
		if p.busy.has(i) && p.services[i].attention() {
			return true
		}
	}
	return false
}
