package daemonclient

import (
	"fmt"
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/faultproxy"
)

// A Way is a direction between two members of the job, launcher and daemons, that can be cut:
// member 0 is the launcher, member i+1 the daemon of node i with its processes.
type Way struct{ From, To int }

// wires are the network between the nodes of one machine where cuts are planned. Two members with
// ways that may be cut reach each other through relays; all others reach each other directly, so
// that a plan changes nothing elsewhere. Each of the two has relays of its own, for all listeners
// of the other. A relay refuses connections once its target does, and so shows that a daemon has
// ended.
//
//	node 0: Driver, ranks ──▶ relays of 0 ▶ 2 ──▶ node 2: Driver, listeners of its ranks
//	                     ◀──                 ◀──  answers, on the same connections
//	node 2: Driver, ranks ──▶ relays of 2 ▶ 0 ──▶ node 0
//	launcher ◀── relay of 0 ▶ launcher ◀── node 0: its reports, its orders
//
// The path from 0 to 2 is therefore one direction of the first and the other direction of the
// second.
type wires struct {
	named map[Way]bool // may be cut

	mu      sync.Mutex
	streams map[Way][]*faultproxy.Relay // dialed by From
	packets map[Way][]*faultproxy.Packets
	cuts    map[Way]int // how many cuts there are now
}

func newWires(ways []Way) *wires {
	named := map[Way]bool{}
	for _, way := range ways {
		named[way] = true
	}
	return &wires{named: named, streams: map[Way][]*faultproxy.Relay{}, packets: map[Way][]*faultproxy.Packets{}, cuts: map[Way]int{}}
}

// isDirect reports whether two members reach each other without relays.
func (w *wires) isDirect(way Way) bool {
	return way.From == way.To || !w.named[way] && !w.named[Way{way.To, way.From}]
}

// stream returns the address at which a member reaches the listener addr of another member.
func (w *wires) stream(way Way, addr string) (string, error) {
	if w.isDirect(way) {
		return addr, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r, err := faultproxy.New(addr, nil)
	if err != nil {
		return "", fmt.Errorf("--cut: a relay: %w", err)
	}
	r.RefuseWithTarget()
	w.streams[way] = append(w.streams[way], r)
	return r.Addr(), nil
}

// packet is stream for datagrams.
func (w *wires) packet(way Way, addr string) (string, error) {
	if w.isDirect(way) {
		return addr, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := faultproxy.NewPackets(addr)
	if err != nil {
		return "", fmt.Errorf("--cut: a relay: %w", err)
	}
	w.packets[way] = append(w.packets[way], p)
	return p.Addr(), nil
}

// set cuts ways, or ends such a cut.
func (w *wires) set(ways []Way, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, way := range ways {
		before := w.cuts[way]
		if on {
			w.cuts[way]++
		} else {
			w.cuts[way]--
		}
		if (before > 0) != (w.cuts[way] > 0) {
			w.switchWay(way, on)
		}
	}
}

// switchWay has a way carry nothing, or continue. The caller holds mu.
func (w *wires) switchWay(way Way, off bool) {
	for _, p := range w.packets[way] {
		p.Drop(off)
	}
	stall := func(relays []*faultproxy.Relay, d faultproxy.Direction) {
		for _, r := range relays {
			if off {
				r.Stall(d)
			} else {
				r.Resume(d)
			}
		}
	}
	stall(w.streams[way], faultproxy.ToTarget)
	stall(w.streams[Way{way.To, way.From}], faultproxy.ToDialer)
}

func (w *wires) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, all := range w.streams {
		for _, r := range all {
			r.Close()
		}
	}
	for _, all := range w.packets {
		for _, p := range all {
			p.Close()
		}
	}
}

// table returns the table for a member: with its own ways to all others.
func (w *wires) table(t daemonproto.Table, me int) (daemonproto.Table, error) {
	own := t
	own.Addrs = slices.Clone(t.Addrs)
	own.Members = slices.Clone(t.Members)
	for slot, node := range t.Nodes {
		var err error
		if own.Addrs[slot], err = w.stream(Way{me, node + 1}, t.Addrs[slot]); err != nil {
			return own, err
		}
	}
	for member := range t.Members {
		if err := w.reach(&own.Members[member], Way{me, member}); err != nil {
			return own, err
		}
	}
	return own, nil
}

// reach has a member reached over relays, where its way may be cut.
func (w *wires) reach(m *daemonproto.Member, way Way) (err error) {
	if m.Addr, err = w.stream(way, m.Addr); err == nil {
		m.Packets, err = w.packet(way, m.Packets)
	}
	return err
}

// Cut stops all traffic on some paths between members from now on, or ends that: see Config.Cuts.
// Held bytes of streams are delivered then.
func (f *Client) Cut(ways []Way, on bool) { f.wires.set(ways, on) }
