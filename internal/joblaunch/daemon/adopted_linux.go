package daemon

import (
	"net"
	"syscall"

	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/pidfd"
)

// An Adoption is a process that a job engine has started, and that comes to this daemon to be
// served like the processes that the daemon has started itself. The differences:
//
//	                 born                        adopted
//	it has ended     tombstone, wait4(2)         tombstone, pidfd
//	status           wait4(2)                    read from the pidfd; else job.Status.Unknown
//	signals          kill(2), under the lock     pidfd_send_signal(2), which reaches no other one
//	its children     end with the job            are the engine's
//	its streams      pass the daemon        are the engine's
type Adoption struct {
	Number int
	// its number in the namespace of this process; 0: it is in another namespace of pids
	Pid   int
	Pidfd int           // Adopt takes it over
	Line  *net.UnixConn // its lifeline; Adopt takes it over
}

// Adopt serves a process from now on. It is one of those of Expect: Unexpect follows.
func (d *Daemon) Adopt(a Adoption) error {
	handle, err := pidfd.New(a.Pidfd)
	if err != nil {
		a.Line.Close()
		return err
	}
	p := newProcess(a.Number, a.Pid, a.Line)
	p.handle = handle
	d.mu.Lock()
	defer d.mu.Unlock()
	d.procs[p.slot] = p
	d.wards++
	d.live++
	if d.isHalted { // KillAll has ended all that it knew
		p.signal(syscall.SIGKILL)
	}
	d.listeners.Go(func() { defer close(p.silent); defer a.Line.Close(); d.listen(p) })
	go d.awaitEnd(p)
	return nil
}

// awaitEnd reports the end of an adopted process to the host.
//
//	kernel: all threads are gone      awaitEnd: nothing of it runs: Found, unless by a tombstone
//	engine: waits for its child       awaitEnd: its status: Reaped
func (d *Daemon) awaitEnd(p *process) {
	p.handle.Wait()
	d.mu.Lock()
	p.reaped = true
	d.node.SetEnded(p.slot)
	d.mu.Unlock()
	d.find(p.number, job.ByReaping)
	status := job.Status{Unknown: true}
	if ended, known := p.handle.Status(); known {
		status = statusOf(ended)
	}
	p.handle.Close()
	d.host.Reaped(p.number, status)
	d.hearOut(p)
	d.release(p)
}

// release notes that the host has learned of the end of a process.
func (d *Daemon) release(p *process) {
	d.mu.Lock()
	if p.handle != nil {
		d.wards--
	}
	d.live--
	last := d.endsNow()
	d.mu.Unlock()
	d.forked.Broadcast()
	if last {
		close(d.ended)
	}
}

// endsNow reports whether all processes have ended just now, and none will be started. The caller
// holds mu.
func (d *Daemon) endsNow() bool {
	last := !d.over && d.live == 0 && d.expected == 0
	d.over = d.over || last
	return last
}

// hasChildren reports whether there is anything that this process is the parent of, and that it
// knows. The caller holds mu.
func (d *Daemon) hasChildren() bool { return d.live > d.wards || len(d.builds) > 0 }

// signal sends a signal to a process that is not reaped. The caller holds mu.
func (p *process) signal(sig syscall.Signal) {
	if p.handle != nil {
		p.handle.Signal(sig)
		return
	}
	_ = syscall.Kill(p.pid, sig)
}

// giveWay gives the living precedence over a process that has died and is not reaped. Adopted ones
// may be one process group (all tasks of a Slurm step on a node are the group of the first one),
// and the pid of one may mean another process here, or none.
func (p *process) giveWay() {
	if p.handle == nil {
		giveWay(p.pid)
		return
	}
	if p.pid <= 0 {
		return
	}
	for _, tid := range threadsOf(p.pid) {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, tid, firstNice())
	}
}
