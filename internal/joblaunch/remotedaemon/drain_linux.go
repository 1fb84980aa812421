package remotedaemon

import (
	"sync/atomic"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// A drain is the way in which a node leaves a job that continues. SIGTERM may mean the job, or this
// node alone, such as when Kubernetes evicts a pod. A signal for the job reaches the first node as
// well, and the launcher passes it on to all.
//
//	engine     this daemon                              launcher
//	SIGTERM    waits for stopFor
//	                                                    the job, too: Signal to all --> all ranks end in order
//	           else: Notice                         --> starts nothing here any more
//	           kills its ranks endFor before the grace is over: exact deaths, replaced elsewhere
//	           ends, with 143: a pod that has ended with 0 is not started again
type drain struct {
	grace   time.Duration // from SIGTERM to SIGKILL; 0: SIGTERM is for the ranks
	stopped chan struct{} // closed: the whole job is to end
	isStop  atomic.Bool
	done    atomic.Bool // the ranks have ended
}

const (
	stopFor = 2 * time.Second
	endFor  = 2 * time.Second
)

func newDrain() drain { return drain{stopped: make(chan struct{})} }

// hear notes a signal that the launcher passes on to all.
func (d *drain) hear(sig syscall.Signal) {
	if (sig == syscall.SIGTERM || sig == syscall.SIGINT) && d.isStop.CompareAndSwap(false, true) {
		close(d.stopped)
	}
}

// leaveJob carries out a SIGTERM, where there is a grace.
func (o *nodeDaemon) leaveJob() {
	begun := time.Now()
	if o.drain.stopsWithin(stopFor) {
		return
	}
	left := max(o.drain.grace-endFor-time.Since(begun), 0)
	o.mouth.Say(daemonproto.Notice{AfterNs: int64(left)})
	if o.drain.stopsWithin(left) {
		return
	}
	o.d.KillAll()
	o.d.Unexpect(1) // the launcher starts nothing here any more
	<-o.d.Ended()
	o.drain.done.Store(true)
	o.mouth.Flush()
	_ = o.conn.Close() // serve ends
}

// stopsWithin reports whether the whole job is to end, or its processes have here.
func (d *drain) stopsWithin(limit time.Duration) bool {
	select {
	case <-d.stopped:
		return true
	case <-time.After(limit):
		return false
	}
}
