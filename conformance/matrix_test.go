package conformance_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/internal/testing/spectable/matrix"
)

// limit bounds the time of a cell. A cell needs milliseconds.
const limit = 30 * time.Second

// signs are given between goroutines.
type signs struct {
	mu    sync.Mutex
	given map[string]chan struct{}
}

func (s *signs) of(sign string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given == nil {
		s.given = map[string]chan struct{}{}
	}
	if s.given[sign] == nil {
		s.given[sign] = make(chan struct{})
	}
	return s.given[sign]
}

// A place is one goroutine rank in a cell.
type place struct {
	*signs
	w *comm.Comm
}

func (p place) Raise(sign string) { close(p.of(sign)) }

func (p place) Await(ctx context.Context, sign string) {
	select {
	case <-p.of(sign):
	case <-ctx.Done():
	}
}

func (p place) Die(sign string) {
	defer p.Raise(sign) // Kill ends the goroutine
	commtest.Kill(p.w)
}

// runCell runs one cell on goroutine ranks and returns their reports.
func runCell(t testing.TB, x matrix.Cell) []matrix.Report {
	t.Helper()
	return report(t, commtest.Config{}, x.Ranks(), x)
}

// A runner is a cell of either table.
type runner interface {
	Name() string
	Run(ctx context.Context, w *comm.Comm, env matrix.Env) (matrix.Report, bool)
}

// report runs a cell on goroutine ranks and returns their reports.
func report(t testing.TB, cfg commtest.Config, ranks int, x runner) []matrix.Report {
	t.Helper()
	var mu sync.Mutex
	var reports []matrix.Report
	var s signs
	cfg.Run(t, ranks, func(ctx context.Context, w *comm.Comm) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		report, ok := x.Run(ctx, w, place{&s, w})
		if ctx.Err() != nil {
			t.Errorf("%s: rank %d was still waiting after %v\n%s", x.Name(), w.Rank(), limit, stacks())
		}
		mu.Lock()
		defer mu.Unlock()
		if ok {
			reports = append(reports, report)
		}
	})
	return reports
}

func stacks() string {
	var all bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&all, 2)
	return all.String()
}

// A tally counts the outcomes of cells.
type tally struct {
	mu       sync.Mutex
	outcomes map[spectable.Outcome]int
	unaware  int // calls made at ranks that did not know of a death that had happened
}

func (y *tally) note(x matrix.Cell, reports []matrix.Report) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, r := range reports {
		y.outcomes[r.Outcome]++
		if x.State.Died == spectable.Unaware && r.Knew == 0 {
			y.unaware++
		}
	}
}

// TestSpecR1R5R6R7EveryCallInEveryState runs the table, several cells at a time.
func TestSpecR1R5R6R7EveryCallInEveryState(t *testing.T) {
	cells := matrix.Cells()
	work := make(chan matrix.Cell)
	seen := tally{outcomes: map[spectable.Outcome]int{}}
	var said spectable.Complaints
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for x := range work {
				reports := runCell(t, x)
				seen.note(x, reports)
				for _, wrong := range x.Wrong(reports) {
					said.Errorf("%s: %s", x.Name(), wrong)
				}
			}
		})
	}
	for i, x := range cells {
		if longtest.Row(i, 11) {
			work <- x
		}
	}
	close(work)
	wg.Wait()
	said.Judge(t, "conformance.TestSpecR1R5R6R7EveryCallInEveryState", spectable.Gaps())
	t.Logf("%d cells: %d calls in %d states; outcomes: %v; %d calls at ranks that did not know of the death",
		len(cells), len(matrix.Calls()), len(spectable.States()), seen.outcomes, seen.unaware)
	if seen.unaware == 0 {
		t.Error("all ranks knew: the states of unknown deaths were not reached")
	}
}

// TestSpecR1R45R46PeerKilledAtEveryFrame kills the peer at every frame that it sends or receives,
// for every call between two processes. The call returns success or the error of its class, and the
// survivors continue. (Collectives, agreements and creations have such tests of their own.)
func TestSpecR1R45R46PeerKilledAtEveryFrame(t *testing.T) {
	longtest.Skip(t, "a thousand runs")
	if testing.Short() {
		t.Skip("a thousand runs")
	}
	var said spectable.Complaints
	runs, seen := 0, tally{outcomes: map[spectable.Outcome]int{}}
	for _, call := range matrix.Calls() {
		switch call.Class {
		case spectable.Buffered, spectable.Synchronous, spectable.Named, spectable.Wild, spectable.WildPosted:
		default:
			continue
		}
		x := matrix.Cell{Call: call}
		for frame := uint64(1); !t.Failed(); frame++ {
			came := commtest.RunKilled(t, 3, spectable.Peer, frame, func(ctx context.Context, w *comm.Comm) {
				ctx, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				report, judged := x.Loosely(ctx, w, w, spectable.Peer)
				if judged {
					seen.note(x, []matrix.Report{report})
				}
				for _, wrong := range report.Wrong {
					said.Errorf("%s / killed before frame %d: %s", call.Name, frame, wrong)
				}
				if _, err := w.Shrink(ctx); err != nil && w.Rank() != spectable.Peer {
					t.Errorf("%s / killed before frame %d: rank %d: %v\n%s", call.Name, frame, w.Rank(), err, stacks())
				}
			})
			runs++
			if !came {
				break
			}
		}
	}
	said.Judge(t, "conformance.TestSpecR1R45R46PeerKilledAtEveryFrame", spectable.Gaps())
	t.Logf("%d runs; outcomes: %v", runs, seen.outcomes)
}

// TestSpecR68ManyGoroutinesMeetADeath: each call of the table, but those whose result
// depends on when the death comes, is made in a goroutine of its own on a
// communicator of its own, all at once, while a third process is killed.
func TestSpecR68ManyGoroutinesMeetADeath(t *testing.T) {
	const at = 16 // calls at once
	var calls []matrix.Call
	for _, c := range matrix.Calls() {
		switch c.Class {
		case spectable.Shrinking, spectable.AgreedFailures, spectable.Ending:
		default:
			calls = append(calls, c)
		}
	}
	var said spectable.Complaints
	runs, seen := 0, tally{outcomes: map[spectable.Outcome]int{}}
	for some := range slices.Chunk(calls, at) {
		for yields := 0; yields < 400; yields = 2*yields + 1 {
			commtest.Run(t, spectable.Ranks, func(ctx context.Context, w *comm.Comm) {
				ctx, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				crowd(ctx, t, w, some, yields, &said, &seen)
				if ctx.Err() != nil {
					t.Errorf("killed after %d yields: rank %d was still waiting\n%s", yields, w.Rank(), stacks())
				}
			})
			runs++
		}
	}
	said.Judge(t, "conformance.TestSpecR68ManyGoroutinesMeetADeath", spectable.Gaps())
	t.Logf("%d runs; outcomes: %v", runs, seen.outcomes)
	if seen.outcomes[spectable.OK] == 0 || seen.outcomes[spectable.Failed] == 0 {
		t.Error("the deaths came too early or too late")
	}
}

// crowd makes all calls at once, while the third process yields some times and is
// killed.
func crowd(ctx context.Context, t *testing.T, w *comm.Comm, calls []matrix.Call, yields int, said *spectable.Complaints, seen *tally) {
	var cs []*comm.Comm
	for range calls {
		c, err := w.Dup(ctx)
		if err != nil {
			t.Errorf("dup: %v", err)
			return
		}
		cs = append(cs, c)
	}
	if _, err := w.Agree(ctx, 0); err != nil { // all have made them all
		t.Errorf("agree: %v", err)
	}
	if w.Rank() == spectable.Third {
		go func() {
			for range yields {
				runtime.Gosched()
			}
			commtest.Kill(w)
		}()
		defer func() { // not before it is dead
			for !door.Engine(w).Proc().Fenced() {
				runtime.Gosched()
			}
		}()
	}
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() {
			x := matrix.Cell{Call: call}
			report, judged := x.Loosely(ctx, w, cs[i], spectable.Third)
			if !judged {
				return
			}
			seen.note(x, []matrix.Report{report})
			for _, wrong := range report.Wrong {
				said.Errorf("%s / in a crowd: %s", call.Name, wrong)
			}
		})
	}
	wg.Wait()
}

// TestTheTableCanFail judges calls as members of a wrong class: each is found. A table without
// complaints is therefore evidence.
func TestTheTableCanFail(t *testing.T) {
	for _, c := range []struct {
		call, state string
		as          spectable.Class
		says        string
	}{
		{"Recv from peer", "peer dead, known", spectable.NoProcess, "returned failed"},
		{"Recv from peer", "third dead, known, served before", spectable.Wild, ""}, // both rules allow ok
		{"Recv from any", "third dead, known", spectable.Local, "returned failed"},
		{"Irecv from any, wait", "third dead, known", spectable.Wild, "returned pending"},
		{"Recv from peer", "revoked during", spectable.NoProcess, "returned revoked"},
		{"Barrier", "peer dead, acknowledged", spectable.Agreement, "returned failed"},
		{"Agree", "peer dead, known", spectable.AgreedFailures, "returned failed"},
		{"Agree", "revoked before", spectable.Creation, "returned ok"},
		{"Send", "healthy", spectable.Local, ""},
	} {
		cell := find(t, c.call, c.state)
		cell.Call.Class = c.as
		wrong := strings.Join(cell.Wrong(runCell(t, cell)), "; ")
		if c.says == "" && wrong != "" || !strings.Contains(wrong, c.says) {
			t.Errorf("%s judged as another class: complaints %q, want %q", cell.Name(), wrong, c.says)
		}
	}
	cell := find(t, "Recv from peer", "peer dead, known")
	cell.Call.Op = "probe"
	if wrong := cell.Wrong(runCell(t, cell)); len(wrong) != 1 || !strings.Contains(wrong[0], `operation is "recv", expected "probe"`) {
		t.Errorf("a wrong operation in an error: complaints %q", wrong)
	}
	uneven := []matrix.Report{{Rank: 0, Outcome: spectable.OK}, {Rank: 2, Outcome: spectable.Failed}}
	if wrong := find(t, "Agree", "peer dead, known").Wrong(uneven); len(wrong) != 1 {
		t.Errorf("outcomes that are not uniform: complaints %q", wrong)
	}
}

func find(t *testing.T, call, state string) matrix.Cell {
	t.Helper()
	for _, x := range matrix.Cells() {
		if x.Name() == call+" / "+state {
			return x
		}
	}
	t.Fatalf("no cell %s / %s", call, state)
	return matrix.Cell{}
}
