package remotedaemon

import (
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// The daemon is one of the members that watch each other: the launcher, which is the coordinator,
// and all daemons. Without the coordinator's grants its ranks stand still.

// openPlace opens the place where the others reach this daemon: at the address from which it
// reaches the launcher.
func (o *nodeDaemon) openPlace() (err error) {
	o.birth = daemon.NewIdentity()
	o.place, err = membershiphost.Open(o.conn.LocalAddr().(*net.TCPAddr).IP)
	return err
}

func (o *nodeDaemon) member() daemonproto.Member { return daemonproto.Member(o.place.Peer(o.birth)) }

// watch starts the membershiphost.Driver.
func (o *nodeDaemon) watch(t daemonproto.Table) (err error) {
	cfg := membershiphost.Config{Trust: o.trust, Place: o.place, Host: (*watcher)(o), Now: leaseNow, Hurry: daemon.Hurry, Roster: t.Roster(o.boot.Node + 1)}
	o.late = t.Late
	for _, m := range t.Members {
		cfg.Peers = append(cfg.Peers, membershiphost.Peer(m))
	}
	o.driver, err = membershiphost.Start(cfg)
	return err
}

func leaseNow() mono.Time { return mono.Time(boot.LeaseNowNs()) }

// leave ends the Driver.
func (o *nodeDaemon) leave() {
	if o.driver == nil {
		o.place.Close()
		return
	}
	o.driver.Close()
}

// complain informs the membership that processes of this node cannot connect to those of another
// node, or can connect again.
func (o *nodeDaemon) complain(node int, so bool) { o.driver.Unreachable(node+1, so) }

// hold has the node stand still as the launcher does. Its daemon does, too: else it would find the
// launcher silent.
func (o *nodeDaemon) hold(on bool) {
	if on {
		o.driver.Hold(true)
		o.d.Stop(daemon.Held)
		return
	}
	o.d.Continue(daemon.Held)
	o.driver.Hold(false)
}

// A watcher is the node daemon as the host of its membershiphost.Driver.
type watcher nodeDaemon

// Lease implements membershiphost.Host, as do the other methods.
func (w *watcher) Lease(until mono.Time) {
	if pausepoint.Enabled {
		pausepoint.At("remotedaemon.lease")
	}
	w.d.SetLease(int64(until))
}

// Freeze stops the processes of the node.
func (w *watcher) Freeze() {
	if w.solo.quiet.Load() { // nothing is left that could do harm
		w.solo.leave()
		return
	}
	w.d.Stop(daemon.Frozen)
	w.frozen = time.Now()
	if w.late {
		return // nothing was granted yet, and no process runs
	}
	w.note("frozen", "nothing granted for the time of a lease: its ranks stand still")
}

// Thaw continues them.
func (w *watcher) Thaw() {
	w.d.Continue(daemon.Frozen)
	if w.late {
		w.late = false
		return
	}
	w.note("thawed", "its ranks continue after %s", time.Since(w.frozen).Round(time.Millisecond))
}

// Declaration has the processes of this node know that those of another one are lost. A launcher
// that was declared dead, and continues, is not obeyed any more.
func (w *watcher) Declaration(member int) {
	finished := w.solo.finish(member, w.nodes+1)
	if member == membership.Launcher {
		w.note("node", "the launcher was declared dead")
		w.conn.Close()
		return
	}
	text := "node %d was declared dead"
	if finished { // its daemon has left, which the roster knows as a death
		text = "node %d has finished"
	}
	w.solo.tell(w.boot.Node, fmt.Sprintf(text, member-1)) // a launcher reports that itself
	w.roll.lose(member - 1)
}

// Learned reports to the processes the departures on other nodes.
func (w *watcher) Learned(origin int, entries []membership.Entry) {
	for _, e := range entries {
		switch e.Kind {
		case membership.Died, membership.Left:
			w.roll.enter(int(e.Number()), e.Kind == membership.Left)
		case membership.Aborted:
			w.Over(fmt.Sprintf("a rank has ended the job with code %d", e.Number()))
		case membership.Doomed:
			w.d.Signal(int(e.Number()), syscall.SIGKILL)
		case membership.Quiet:
			w.solo.finish(origin, w.nodes+1)
		case membership.Revoked:
			(*nodeDaemon)(w).tellRevoked(e.Name)
		}
	}
}

// Coordinator is for people.
func (w *watcher) Coordinator(member int) {
	if member != membership.Launcher {
		w.note("head", "node %d is the coordinator now", member-1)
	}
}

// Suspect does nothing: the launcher reports suspicions.
func (w *watcher) Suspect(int, mono.Duration) {}

// Over ends the node.
func (w *watcher) Over(why string) {
	if w.over.CompareAndSwap(nil, why) && w.solo.is.Load() {
		w.note("end", "this node ends: %s", why)
	}
	if !w.settled.Load() {
		w.d.KillAll()
	}
	w.conn.Close()
	w.solo.leave()
}

// Anomaly is for people.
func (w *watcher) Anomaly(member int, text string) { w.note("anomaly", "member %d: %s", member, text) }

func (w *watcher) note(event, format string, args ...any) {
	(*nodeDaemon)(w).note(event, format, args...)
}

// note reports an event to the user: through the launcher, or in a file where there is none.
func (o *nodeDaemon) note(event, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !o.solo.tell(o.boot.Node, text) {
		o.mouth.Say(daemonproto.Note{Event: event, Text: text})
	}
}
