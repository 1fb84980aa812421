package recovery

import (
	"fmt"
	"log/slog"
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
	if w.run.Attempt == 1 && w.Rank() == 0 {
		switch {
		case w.plan.Source == repair.FromFiles:
			w.r.inform("restored", append(attrs(slog.Int("ranks", w.Size())), w.sourceAttrs()...), "%d ranks go on from %s", w.Size(), w.source())
		case w.startsInVain():
			w.r.warn("started anew", append(attrs(slog.Int("ranks", w.Size())), w.sourceAttrs()...), "%d ranks start from %s", w.Size(), w.source())
		}
	}
	lowest := 0
	for slices.Contains(w.run.Filled, lowest) {
		lowest++
	}
	if w.run.Attempt > 1 && w.Rank() == lowest && took.total > 0 {
		w.r.inform("repaired", append(w.changeAttrs(), append(w.sourceAttrs(),
			slog.Duration("total", took.total), slog.Duration("agree", took.agree), slog.Duration("shrink", took.shrink), slog.Duration("replace", took.replace))...),
			"%s; %d ranks back to %s; %s after the failure was seen (agree %s, shrink %s, replace %s)",
			w.change(), w.Size(), w.source(), short(took.total), short(took.agree), short(took.shrink), short(took.replace))
	}
}

// startsInVain reports whether this job begins anew though versions in files were found: none of
// them could be restored.
func (w *World) startsInVain() bool {
	return w.plan.Source == repair.FromNowhere && w.r.files != nil && w.r.files.offered > 0
}

// changeAttrs are the values of change: the ranks with a new process, and these processes.
func (w *World) changeAttrs() []slog.Attr {
	all, processes := w.c.Group().Processes(), make([]int, len(w.run.Lost))
	for i, rank := range w.run.Lost {
		processes[i] = all[rank]
	}
	return attrs(slog.Int("attempt", w.run.Attempt), slog.Int("ranks", w.Size()), slog.Any("replaced", w.Lost()), slog.Any("processes", processes))
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

// sourceAttrs are the values of source.
func (w *World) sourceAttrs() []slog.Attr {
	switch {
	case w.plan.Source == repair.FromMemory:
		return attrs(slog.String("from", "memory"), slog.String("version", w.plan.Label.String()), slog.Int("step", w.step))
	case w.plan.Source == repair.FromFiles:
		return attrs(slog.String("from", "files"), slog.String("version", w.r.files.name(w.plan.Label)), slog.Int("step", w.step),
			slog.String("files", w.r.files.where), slog.Int("writers", w.writers))
	}
	from := "beginning"
	if w.hasOwn() {
		from = "saved"
	}
	values := attrs(slog.String("from", from))
	if w.startsInVain() {
		values = append(values, slog.String("files", w.r.files.where), slog.Int("unfit", w.r.files.offered))
	}
	return values
}

func (w *World) source() string {
	switch w.plan.Source {
	case repair.FromMemory:
	case repair.FromFiles:
		return fmt.Sprintf("%s in %s (step %d), which %d ranks have written", w.r.files.name(w.plan.Label), w.r.files.where, w.step, w.writers)
	default:
		reason := "nothing was committed"
		if w.startsInVain() {
			reason = fmt.Sprintf("none of the %d versions of %s in %s can be restored", w.r.files.offered, w.r.files.cfg.Job, w.r.files.where)
		}
		if w.hasOwn() {
			return "the data that each has saved; " + reason
		}
		return "the beginning: " + reason
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
