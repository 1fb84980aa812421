package boot

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// LeaseNowNs is the clock of leases: CLOCK_BOOTTIME, which does not stand still while the machine
// sleeps.
func LeaseNowNs() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err) // every Linux has it
	}
	return ts.Nano()
}

// HeedLease returns when the lease of the node runs. Over, it stops this process, until somebody
// continues it and the lease is renewed: its daemon, which stops it otherwise, may be what was
// stopped. So nothing that a rank does after HeedLease is done by a node that others have declared
// dead, but for what a pause cuts off between the two (F8).
//
// Its daemon continues it at each renewal for as long as its mark stands: a signal may come before
// the stop that it is to end.
//
//	rank: the lease is over; mark                  stops: until the next renewal
//	daemon:                        renews, continues
//
// The stop is sent to this thread, which takes it before it returns from the call. Sent to the
// process it would be another thread's, which takes it whenever it has a processor: after the
// renewal and the end of the mark, and nobody would continue the process.
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
