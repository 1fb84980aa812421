package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// schedule starts the planned kills and the timeout.
func (l *launcher) schedule() {
	if l.spec.Timeout > 0 {
		t := time.AfterFunc(l.spec.Timeout, l.timeUp)
		go func() { <-l.quiet; t.Stop() }()
	}
	for _, s := range l.spec.Stops {
		go l.stopAfter(s)
	}
	for _, c := range l.spec.Cuts {
		go l.cutAfter(c)
	}
	for _, k := range l.spec.Kills {
		if k.Point == "" {
			go l.killAfter(k)
		}
	}
}

// stopAfter freezes a node for a while, some time after all ranks are in Init.
func (l *launcher) stopAfter(s Stop) {
	if !l.awaitAfter(s.After) {
		return
	}
	if !l.remote.Serves(s.Node) {
		l.plan.missed(s.flag(), nodeGone)
		return
	}
	l.plan.happened(s.flag())
	l.rep.note("node", "node %d stands still for %s as planned", s.Node, s.For)
	l.remote.StopNode(s.Node)
	select {
	case <-time.After(s.For):
	case <-l.crew.Ended():
	}
	l.remote.ContinueNode(s.Node)
	l.rep.note("node", "node %d goes on", s.Node)
}

// cutAfter cuts the network for a while, some time after all ranks are in Init.
func (l *launcher) cutAfter(c Cut) {
	if !l.awaitAfter(c.After) {
		return
	}
	ways := l.spec.waysOf(c)
	l.rep.note("cut", "the network is cut as planned: %s", c.Text)
	l.plan.happened(c.flag())
	l.remote.Cut(ways, true)
	select {
	case <-time.After(c.For):
	case <-l.crew.Ended():
		return
	}
	l.remote.Cut(ways, false)
	l.rep.note("cut", "the network is whole again: %s", c.Text)
}

// awaitAfter waits until the time d has passed since all ranks were in Init; false: the job is
// over.
func (l *launcher) awaitAfter(d time.Duration) bool {
	select {
	case <-l.allJoined:
	case <-l.crew.Ended():
		return false
	}
	select {
	case <-time.After(d):
		return true
	case <-l.crew.Ended():
		return false
	}
}

// killAfter kills a rank some time after all are in Init.
func (l *launcher) killAfter(k Kill) {
	if !l.awaitAfter(k.After) {
		return
	}
	if k.Self {
		l.rep.note("node", "the launcher is killed as planned, %s after all ranks were in Init", k.After)
		l.rep.writeAll()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	switch {
	case k.Node == 0:
		l.kill(k)
	case !l.remote.Serves(k.Node - 1):
		l.plan.missed(k.flag(), nodeGone)
	default:
		l.rep.note("node", "node %d is killed as planned, %s after all ranks were in Init", k.Node-1, k.After)
		l.plan.happened(k.flag())
		l.remote.KillNode(k.Node - 1)
	}
}

// concerns reports whether a planned death is for a process: for the rank itself, or for any
// process of the node. The next process in the slot of the rank has another number, and does not
// die once more.
func (l *launcher) concerns(k Kill, proc int) bool {
	if k.Node > 0 {
		return l.remote.NodeOf(job.SlotOf(proc)) == k.Node-1
	}
	return !k.Self && k.Rank == proc
}

// reached records that a planned death at a point happens: the process reports this before it kills
// itself.
func (l *launcher) reached(proc int, at rankproto.Killing) {
	for _, k := range l.spec.Kills {
		if k.Point == at.Name && k.Value == at.N && l.concerns(k, proc) {
			l.plan.happened(k.flag())
		}
	}
}

// killNodeAt kills the node of a process that has reached the point of a planned death. Other
// processes of this node may reach the point before they are dead, which changes nothing.
func (l *launcher) killNodeAt(proc int, at rankproto.Killing) {
	for _, k := range l.spec.Kills {
		if k.Node == 0 || k.Point != at.Name || k.Value != at.N || !l.concerns(k, proc) {
			continue
		}
		l.Mu.Lock()
		first := !slices.Contains(l.struck, k.Node)
		l.struck = append(l.struck, k.Node)
		l.Mu.Unlock()
		if first {
			l.rep.note("node", "node %d is killed as planned, as rank %d is at %s=%d", k.Node-1, job.SlotOf(proc), at.Name, at.N)
			l.remote.KillNode(k.Node - 1)
		}
	}
}

func catchSignals() chan os.Signal {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT)
	return ch
}

// oneRequest is for how long a repeated signal belongs to the same request to end: at its time
// limit Slurm sends SIGTERM twice within a millisecond. A second ^C of a person comes later.
const oneRequest = 100 * time.Millisecond

// endAfterGrace kills ranks that have not ended by themselves some time after the first SIGTERM: a
// program such as timeout(1) asks a job to end only once.
func (l *launcher) endAfterGrace() {
	select {
	case <-l.crew.Ended():
	case <-time.After(l.spec.Grace):
		l.rep.note("signal", "ranks have not ended %s after SIGTERM: killed (--grace)", l.spec.Grace)
		l.stop(ExitSignal+int(syscall.SIGTERM), "ranks had not ended in time")
	}
}

// handleSignals passes signals on: the first interrupt lets the ranks end by
// themselves, the second kills them.
func (l *launcher) handleSignals(ch <-chan os.Signal) {
	asked := 0
	var last syscall.Signal
	var at time.Time
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
				l.crew.Hold(true)
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			case syscall.SIGCONT:
				l.crew.Hold(false)
			case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
				if asked > 0 && sig == last && time.Since(at) < oneRequest {
					continue
				}
				last, at = sig, time.Now()
				if asked++; asked > 1 || l.crew.Over() {
					l.stop(ExitSignal+int(sig), sig.String())
					continue
				}
				l.Apply(job.Interrupted{Code: ExitSignal + int(sig), Why: sig.String()})
				l.rep.note("signal", "%s passed on to all ranks; once more ends them at once", sig)
				if sig == syscall.SIGTERM && l.spec.Grace > 0 {
					go l.endAfterGrace()
				}
				l.rep.atOnce()
				l.crew.SignalAll(sig)
			default:
				l.crew.SignalAll(sig)
			}
		}
	}
}
