package outpost

import (
	"os"
	"os/signal"
	"syscall"
)

// passSignals has this daemon survive what a job engine sends to the tasks of a step, and its
// processes hear it: a daemon that ended with SIGTERM would take them along before they have ended
// in order.
func (o *outpost) passSignals() {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	for s := range ch {
		o.d.SignalAll(s.(syscall.Signal))
	}
}
