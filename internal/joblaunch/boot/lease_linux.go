package boot

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// LeaseNowNs reads the clock of leases: CLOCK_BOOTTIME, which keeps running while the machine
// sleeps.
func LeaseNowNs() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err) // every Linux has it
	}
	return ts.Nano()
}

// HeedLease returns while the lease of the node is valid. After the lease has ended, HeedLease
// stops this process until the daemon has renewed the lease and continues the process. The rank
// stops itself because its daemon, which stops the ranks otherwise, may itself have been stopped.
// So a rank of a node that others have declared dead does nothing after HeedLease, except for an
// action that a pause separates from the check (F8).
//
// The daemon continues the rank at each renewal for as long as the rank's mark stands, because a
// signal may come before the stop that it is to end.
//
//	rank: the lease is over; mark                  stops: until the next renewal
//	daemon:                        renews, continues
//
// The stop is sent to this thread, which handles the signal before it returns from the call. A
// signal to the process could be handled by another thread, whenever that thread gets a
// processor. If that is after the renewal and after the end of the mark, the daemon does not
// continue the process.
func (p *Process) HeedLease() {
	if !p.leaseIsOver() {
		return
	}
	me := p.Info.Proc()
	p.Node.SetHalting(me, true)
	runtime.LockOSThread()
	for p.leaseIsOver() {
		_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
	}
	runtime.UnlockOSThread()
	p.Node.SetHalting(me, false)
}

func (p *Process) leaseIsOver() bool {
	until := p.Node.Lease()
	return until != 0 && LeaseNowNs() >= until
}
