package daemon

import "syscall"

// Still says why the processes of a node stand still; they go on when no reason is left.
type Still uint8

// The reasons.
const (
	Frozen Still = 1 << iota // the lease of the node is over: others may take it for dead
	Held                     // the launcher was stopped by its terminal
)

// Stop has all processes of the node, and what they have started, stand still. One that is started
// later does at once.
func (d *Daemon) Stop(why Still) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.still |= why; d.still == why {
		d.signalGroups(syscall.SIGSTOP)
	}
}

// Continue takes one reason back.
func (d *Daemon) Continue(why Still) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.still&why == 0 {
		return
	}
	if d.still &^= why; d.still == 0 {
		d.signalGroups(syscall.SIGCONT)
	}
}

// signalGroups signals all processes and what they have started. The caller holds mu.
func (d *Daemon) signalGroups(sig syscall.Signal) {
	for _, p := range d.procs {
		if !p.reaped {
			p.signalGroup(sig)
		}
	}
}

// signalGroup signals a process and what it has started. Adopted ones may be one group.
func (p *process) signalGroup(sig syscall.Signal) {
	if p.handle == nil {
		_ = syscall.Kill(-p.pid, sig)
	}
	p.signal(sig)
}

// Hold has the processes of the node stand still, as the launcher will, or go on. One that was
// stopped alone goes on, too.
func (d *Daemon) Hold(on bool) {
	if on {
		d.Stop(Held)
		return
	}
	d.Continue(Held)
	d.SignalAll(syscall.SIGCONT)
}

func (d *Daemon) isStill() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.still != 0
}

// SetLease says until when the processes of the node may run, by CLOCK_BOOTTIME in ns, and
// continues those that have stopped themselves, if nothing else has.
func (d *Daemon) SetLease(ns int64) {
	d.node.SetLease(ns)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.still != 0 {
		return
	}
	for _, p := range d.procs {
		if !p.reaped && d.node.Halting(p.seat) {
			p.signal(syscall.SIGCONT)
		}
	}
}
