package launch

import (
	"time"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// refillPause is the time from the use of a spare to the start of the next spare. To start a
// process takes processors from the repair that uses the first spare:
//
//	0 ms   a rank dies
//	3 ms   a spare has its rank, all members know it, and continue with the repair
//	       started at once, another spare computes 5 ms until it is in Init,
//	       and the launcher 1 ms to start it
//	6 ms   the repair is over; with that process beside it, on two cores, 10 ms
const refillPause = 100 * time.Millisecond

// addSpare starts a process that waits for a rank to replace, if there is room for one.
func (l *launcher) addSpare() {
	l.crew.OnStarter(func() {
		if !l.crew.Expect(1) {
			return // the job is over
		}
		defer l.crew.Unexpect(1)
		start, ok := l.roomForSpare()
		if !ok {
			return
		}
		if pausepoint.Enabled {
			pausepoint.At("launcher.spare")
		}
		if err := l.startSpare(start); err != nil {
			l.Apply(notStarted(l.numbers(start)[0], err))
			l.rep.note("spare", "a spare does not start: %v", err)
			return
		}
		l.Apply(job.Forked{Proc: l.numbers(start)[0]})
		l.crew.Watch(start.First, 1)
	})
}

// roomForSpare asks the rules for a slot.
func (l *launcher) roomForSpare() (start job.Start, ok bool) {
	vacant, barred := job.Vacant(l.crew.Holdings()), l.crew.Barred()
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, a := range l.Rules.Step(job.SpareRoom{Vacant: vacant, Barred: barred}) {
		if a, is := a.(job.Start); is {
			l.slots = max(l.slots, a.First+1)
			return a, true
		}
	}
	return start, false
}

// startSpare starts a process like a spawned one, but without a parent.
func (l *launcher) startSpare(start job.Start) error {
	if err := l.vacate(start.Used); err != nil {
		return err
	}
	l.crew.Announce(l.slots)
	return l.startSpawned(l.numbers(start)[0], boot.Info{Size: 1, First: start.First, Spawned: true, Spare: true, Keeps: true}, l.prog, rankproto.Spawn{Args: l.spec.Args})
}
