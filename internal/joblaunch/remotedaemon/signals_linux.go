package remotedaemon

import (
	"os"
	"os/signal"
	"syscall"
)

// passSignals makes this daemon survive the signals that a job engine sends to the tasks of a step,
// and passes them on to its processes: a daemon that ended with SIGTERM would take them along
// before they have ended in order. Where the engine may take this node alone back SIGTERM is not
// passed on: see drain.
func (o *nodeDaemon) passSignals() {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	leaves := false
	for s := range ch {
		if s == syscall.SIGTERM && o.drain.grace > 0 && !o.drain.isStop.Load() {
			if !leaves {
				leaves = true
				go o.leaveJob()
			}
			continue
		}
		o.d.SignalAll(s.(syscall.Signal))
	}
}
