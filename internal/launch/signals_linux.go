package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/job"
)

// schedule starts the planned kills and the timeout.
func (l *launcher) schedule() {
	if l.spec.Timeout > 0 {
		t := time.AfterFunc(l.spec.Timeout, l.timeUp)
		go func() { <-l.quiet; t.Stop() }()
	}
	for _, k := range l.spec.Kills {
		if k.Point == "" {
			go l.killAfter(k)
		}
	}
}

// killAfter kills a rank some time after all are in Init.
func (l *launcher) killAfter(k Kill) {
	select {
	case <-l.allJoined:
	case <-l.crew.Ended():
		return
	}
	select {
	case <-time.After(k.After):
		if k.Node > 0 {
			l.rep.note("node", "node %d is killed as planned, %s after all ranks were in Init", k.Node-1, k.After)
			l.fleet.KillNode(k.Node - 1)
			return
		}
		l.kill(k)
	case <-l.crew.Ended():
	}
}

func catchSignals() chan os.Signal {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT)
	return ch
}

// handleSignals passes signals on: the first interrupt lets the ranks end by
// themselves, the second kills them.
func (l *launcher) handleSignals(ch <-chan os.Signal) {
	asked := 0
	for {
		select {
		case <-l.settled:
			return
		case s := <-ch:
			sig := s.(syscall.Signal)
			switch sig {
			case syscall.SIGQUIT:
				l.dump("on request (SIGQUIT)")
			case syscall.SIGTSTP:
				l.crew.SignalAll(syscall.SIGSTOP)
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
				if asked++; asked > 1 || l.crew.Over() {
					l.stop(ExitSignal+int(sig), sig.String())
					continue
				}
				l.Apply(job.Interrupted{Code: ExitSignal + int(sig), Why: sig.String()})
				l.rep.note("signal", "%s passed on to all ranks; once more ends them at once", sig)
				l.rep.atOnce()
				l.crew.SignalAll(sig)
			default:
				l.crew.SignalAll(sig)
			}
		}
	}
}
