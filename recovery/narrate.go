package recovery

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// spent are the durations of a repair, from the moment when this process has seen that the attempt
// is over.
type spent struct{ total, agree, shrink, replace time.Duration }

// A stopwatch measures a repair. The end of an attempt may be detected by another goroutine than
// the body's, hence the lock.
type stopwatch struct {
	mu    sync.Mutex
	begun time.Time // zero: no repair is under way
	spent
	counts map[string]int // of marks
}

func (s *stopwatch) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun.IsZero() {
		s.begun, s.spent = time.Now(), spent{}
	}
}

// stop ends the measurement and returns it; total is 0 if nothing was measured.
func (s *stopwatch) stop() spent {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := s.spent
	if !s.begun.IsZero() {
		took.total = time.Since(s.begun)
	}
	s.begun = time.Time{}
	return took
}

// lap begins to measure a phase. The function that lap returns ends the measurement.
func (s *stopwatch) lap(phase *time.Duration) func() {
	begun := time.Now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		*phase += time.Since(begun)
	}
}

// count returns how often a point was reached, this time included.
func (s *stopwatch) count(point string) int {
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[point]++
	return s.counts[point]
}

// narrate reports a finished repair, at the lowest rank that has seen the repair.
func (w *World) narrate() {
	took := w.r.clock.stop()
	if w.run.Attempt == 1 && w.Rank() == 0 && w.plan.Source == repair.FromFiles {
		w.r.told("recovery: %d ranks go on from %s", w.Size(), w.source())
	}
	lowest := 0
	for slices.Contains(w.run.Filled, lowest) {
		lowest++
	}
	if w.run.Attempt > 1 && w.Rank() == lowest && took.total > 0 {
		w.r.told("recovery: %s; %d ranks back to %s; %s after the failure was seen (agree %s, shrink %s, replace %s)",
			w.change(), w.Size(), w.source(), short(took.total), short(took.agree), short(took.shrink), short(took.replace))
	}
}

func (w *World) change() string {
	if len(w.run.Lost) == 0 {
		return "nobody was replaced"
	}
	processes := w.c.Group().Processes()
	text := ""
	for _, rank := range w.run.Lost {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("rank %d is served by process %d", rank, processes[rank])
	}
	return text
}

func (w *World) source() string {
	switch w.plan.Source {
	case repair.FromMemory:
	case repair.FromFiles:
		return fmt.Sprintf("%s in %s (step %d), which %d ranks have written", w.r.files.name(w.plan.Label), w.r.files.where, w.step, w.writers)
	default:
		if w.hasOwn() {
			return "what each has saved; nothing was committed"
		}
		return "the beginning: nothing was committed"
	}
	return fmt.Sprintf("version %s (step %d)", w.plan.Label, w.step)
}

func short(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// unique returns the communicators but c, each once.
func unique(all []*comm.Comm, c *comm.Comm) []*comm.Comm {
	var out []*comm.Comm
	for _, x := range all {
		if x != c && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
