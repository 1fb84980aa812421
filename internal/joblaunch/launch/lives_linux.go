package launch

import (
	"context"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// Lives are the starts of the ranks of a job: one, and another when no rank is left and
// Spec.Restarts allows it. The data that ranks have kept in the memory of this machine outlive the
// ranks:
//
//	life 0   all ranks start         memory of the node: empty
//	         they commit             memory of the node: their versions
//	         all of them are killed  nobody is left to ask for replacements
//	life 1   all ranks start         package recovery finds the versions,
//	                                 and continues from the newest that is whole
type lives struct {
	first  *Spec
	number int // of the present life, from 0
	begun  time.Time
	kept   *rankstore.Memory
	again  bool // another life follows
	missed int  // planned faults that did not happen, in the first life
}

func newLives(spec *Spec) *lives { return &lives{first: spec, begun: time.Now()} }

// spec returns the Spec of the present life. After the first life there are no planned faults any
// more, and output is appended to the output of earlier lives.
func (ls *lives) spec() *Spec {
	if ls.number == 0 {
		return ls.first
	}
	s := *ls.first
	s.Faults, s.appends = Faults{}, true
	if s.Timeout > 0 { // the time limit is for the job
		s.Timeout = max(s.Timeout-time.Since(ls.begun), time.Millisecond)
	}
	return &s
}

// memory returns the memory of this machine in which ranks of all lives keep data; nil: there is
// none.
func (ls *lives) memory(host daemon.Host) (kept *rankstore.Memory, err error) {
	if ls.kept == nil && !ls.first.Fence { // else a process that is declared dead may run on, and write there
		ls.kept, err = daemon.MakeKept(host, ls.first.N)
	}
	return ls.kept, err
}

// notePlan records how many planned faults of a life did not happen.
func (ls *lives) notePlan(missed int) { ls.missed += missed }

// judge decides whether another life follows, and adds this to the verdict about the present life.
func (ls *lives) judge(ctx context.Context, v job.Verdict) job.Verdict {
	if v.Code == 0 && ls.missed > 0 && ls.first.Must {
		return job.Verdict{Code: ExitPlan, Text: fmt.Sprintf("%s, %s did not happen (--kill-must)", v.Text, plural(ls.missed, "planned fault"))}
	}
	ls.again = v.Code == ExitTooMany && ls.number < ls.first.Restarts && ctx.Err() == nil
	if ls.again {
		v.Text = fmt.Sprintf("%s, all start anew: restart %d of %d", v.Text, ls.number+1, ls.first.Restarts)
	}
	return v
}

// another reports whether another life follows, and begins it.
func (ls *lives) another() bool {
	if ls.again {
		ls.again = false
		ls.number++
		return true
	}
	return false
}

// end releases the memory.
func (ls *lives) end() {
	if ls.kept != nil {
		_ = ls.kept.Close() // no process has the memory any more
	}
}

// checkRestarts reports an error in the requested restarts.
func (s *Spec) checkRestarts() error {
	switch {
	case s.Restarts < 0:
		return fmt.Errorf("--restart %d: want 0 or more", s.Restarts)
	case s.Restarts > 0 && s.Watch:
		return fmt.Errorf("--restart: not with --watch, whose watchers hear of one start of the ranks")
	case s.Restarts > 0 && s.Hosts.Survive:
		return fmt.Errorf("--restart: not with --survive-launcher: who would restart the ranks may be gone")
	case s.Restarts > 0 && s.Hosts.Launcher == LauncherEngine:
		return fmt.Errorf("--restart: the job engine has started the daemons, and must start them again: say it there")
	}
	return nil
}
