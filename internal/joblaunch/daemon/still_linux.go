package daemon

import "syscall"

// Still gives the reason why the processes of a node stand still; they continue when no reason is
// left.
type Still uint8

// The reasons.
const (
	Frozen Still = 1 << iota // the lease of the node is over: others may take it for dead
	Held                     // the launcher was stopped by its terminal
)

// Stop makes all processes of the node, and their children, stand still. A process that is started
// later stops at once.
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

// signalGroups signals all processes and their children. The caller holds mu.
func (d *Daemon) signalGroups(sig syscall.Signal) {
	for _, p := range d.procs {
		if !p.reaped {
			p.signalGroup(sig)
		}
	}
}

// signalGroup signals a process and its children. Adopted ones may be one group.
func (p *process) signalGroup(sig syscall.Signal) {
	if p.handle == nil {
		_ = syscall.Kill(-p.pid, sig)
	}
	p.signal(sig)
}

// Hold has the processes of the node stand still, as the launcher will, or continue. One that was
// stopped alone continues, too.
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

// SetLease sets the time until which the processes of the node may run, by CLOCK_BOOTTIME in ns,
// and continues those that have stopped themselves, if nothing else has.
func (d *Daemon) SetLease(ns int64) {
	d.node.SetLease(ns)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.still != 0 {
		return
	}
	for _, p := range d.procs {
		if !p.reaped && d.node.Halting(p.slot) {
			p.signal(syscall.SIGCONT)
		}
	}
}
