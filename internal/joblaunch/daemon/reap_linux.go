package daemon

import (
	"errors"
	"syscall"

	"github.com/goulfm/goulfm/internal/protocol/job"
	"golang.org/x/sys/unix"
)

// reap waits for all children of the daemon, on the thread that started the first ones. They are
// processes of the job, the commands that build their programs (see Build), and orphans of
// processes, which become the daemon's children.
func (d *Daemon) reap() {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil:
			d.reapOne()
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECHILD) && d.awaitStart():
		default:
			d.mu.Lock()
			none := !d.over // nothing was ever started
			d.over = true
			d.mu.Unlock()
			if none {
				close(d.ended)
			}
			close(d.childless)
			return
		}
	}
}

// reapOne takes the status of a child that has ended, and passes it on. A process counts as live
// until everything was reported to the host. Otherwise the job would be over before the end of the
// process is known:
//
//	reaper: Reaped of the last one      host: nobody will be started: Unexpect, EndLeftovers
//	                                          all listeners have ended; the job is over
//	reaper: hearOut, a new listener           never reports the death
func (d *Daemon) reapOne() {
	p, status := d.takeStatus()
	if p == nil {
		return
	}
	d.host.Reaped(p.number, statusOf(status))
	d.find(p.number, job.ByReaping)
	d.hearOut(p)
	d.release(p)
}

// takeStatus takes the status of a child that has ended, and returns the process if it was one.
func (d *Daemon) takeStatus() (p *process, status syscall.WaitStatus) {
	d.forking.Lock()
	defer d.forking.Unlock()
	d.mu.Lock() // nobody sends a signal to a number that is being given back
	defer d.mu.Unlock()
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if err != nil || pid <= 0 {
		return nil, 0
	}
	if built := d.builds[pid]; built != nil {
		delete(d.builds, pid)
		built <- status
	}
	if p = d.byPid[pid]; p != nil {
		delete(d.byPid, pid)
		p.reaped = true
		d.node.SetEnded(p.slot)
		if d.kept != nil {
			d.kept.Release(p.number)
		}
	}
	return p, status
}

// awaitStart waits until there is a child, or nothing left, where processes are still to be started
// or all that are live were adopted; it reports whether there was anything to wait for.
func (d *Daemon) awaitStart() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.expected == 0 && d.live == 0 {
		return false
	}
	for (d.expected > 0 || d.live > 0) && !d.hasChildren() {
		d.forked.Wait()
	}
	return true
}

// hearOut reports to the host that a reaped process is Heard, after its last message and after its
// end was Found: the evidence, and whether it had left, are part of its end.
//
//	watcher: its tombstone: found        reaper: reaped, found already, heard
//	reports to the host: it had left             the host judges: it has died
func (d *Daemon) hearOut(p *process) {
	p.words.end()
	d.listeners.Go(func() {
		<-p.told
		<-p.silent
		d.host.Heard(p.number)
	})
}
