package daemonclient

import (
	"net"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// The launcher is the coordinator of the members that watch each other: it grants the nodes their
// leases, and alone declares a node dead. Member 0 is the launcher, member i+1 the daemon of node
// i.

// watch starts the membershiphost.Driver.
func (m *muster) watch() (err error) {
	cfg := membershiphost.Config{Trust: m.trust, Place: m.place, Host: watcher{m.f}, Roster: m.roster(),
		Now: func() mono.Time { return mono.Time(boot.LeaseNowNs()) }, Hurry: daemon.Hurry}
	for i, member := range m.members(nil) {
		if m.f.wires != nil && !cfg.Roster.Absent.Has(i) {
			if err := m.f.wires.reach(&member, Way{membership.Launcher, i}); err != nil {
				return err
			}
		}
		cfg.Peers = append(cfg.Peers, membershiphost.Peer(member))
	}
	m.f.driver, err = membershiphost.Start(cfg)
	return err
}

// roster is the configuration of the launcher.
func (m *muster) roster() membership.Config {
	t := m.table()
	t.Members = m.members(nil)
	return t.Roster(membership.Launcher)
}

// members returns where all are reached: the launcher at the address at which node n has reached
// it.
func (m *muster) members(n *node) []daemonproto.Member {
	own := m.place.Peer(m.birth)
	if n != nil {
		ip := n.conn.LocalAddr().(*net.TCPAddr).IP.String()
		own.Addr, own.Packets = at(ip, own.Addr), at(ip, own.Packets)
	}
	all := []daemonproto.Member{daemonproto.Member(own)}
	for _, n := range m.f.nodes {
		all = append(all, n.member)
	}
	return all
}

// at returns addr with another host.
func at(ip, addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return net.JoinHostPort(ip, port)
}

// A watcher is a Client as the host of its membershiphost.Driver.
type watcher struct{ f *Client }

// Lease implements membershiphost.Host, as do the other methods: the launcher needs none.
func (w watcher) Lease(mono.Time) {}

// Freeze does nothing: no process runs here.
func (w watcher) Freeze() {}

// Thaw does nothing either.
func (w watcher) Thaw() {}

// Learned does nothing: the daemons report more about their processes to the launcher, and sooner.
func (w watcher) Learned(int, []membership.Entry) {}

// Coordinator is for people.
func (w watcher) Coordinator(member int) {
	if member != membership.Launcher {
		w.f.host.Note("head", "%s is the coordinator now", w.f.nodes[member-1])
	}
}

// Declaration ends a node.
func (w watcher) Declaration(member int) { go w.f.nodes[member-1].bury() }

// Suspect is for people.
func (w watcher) Suspect(member int, silent mono.Duration) {
	n := w.f.nodes[member-1]
	n.silent.Store(silent > 0)
	if silent > 0 && !n.isClosed() {
		w.f.host.Note("suspect", "%s: not heard for %s", n, time.Duration(silent).Round(time.Millisecond))
	}
}

// Over ends the job: according to another member the launcher is dead. A job that outlives the
// launcher is not the launcher's any more: the launcher gives no order, and leaves.
func (w watcher) Over(why string) {
	if w.f.survive {
		go w.f.leave(why)
		return
	}
	w.f.host.Note("node", "the launcher ends the job: %s", why)
	w.f.KillAll()
}

// Anomaly is for people.
func (w watcher) Anomaly(member int, text string) {
	w.f.host.Note("anomaly", "%s: %s", w.f.nodes[member-1], text)
}

// leave ends the launcher's part in a job that continues.
func (f *Client) leave(why string) {
	f.deserted(why)
	for _, n := range f.there() {
		n.noteOver()
		n.conn.Close()
	}
	f.mu.Lock()
	over := f.isOver
	f.isOver = true
	f.mu.Unlock()
	if !over {
		close(f.ended)
	}
}

// Hold has all nodes stand still, or continue: the launcher is about to be stopped, or was
// continued. A launcher that stops waits a little for the order to be on its way; a node that does
// not receive the order stands still when its lease is over, and ends if that lasts.
func (f *Client) Hold(on bool) {
	f.tellAll(daemonproto.Hold{On: on})
	sent := make(chan struct{})
	go func() {
		for _, n := range f.there() {
			n.mouth.Flush()
		}
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(holdFor):
	}
}

const holdFor = 200 * time.Millisecond
