package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/recovery"
)

const stockedSteps = 6

// stocked is a program with a static and a forward member in variables that outlive its attempts,
// as package variables do. It checks their data, and the roles, after each Protect.
type stocked struct {
	cfg recovery.Config

	mu     sync.Mutex
	wrong  []string
	result string
}

func (s *stocked) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

func (s *stocked) run(t testing.TB, j commtest.Job) string {
	t.Helper()
	s.wrong, s.result = nil, ""
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		p := &process{stocked: s}
		err := recovery.Run(ctx, w, s.cfg, p.body)
		if err != nil && !errors.Is(err, comm.ErrFenced) {
			s.note("%v", err)
		}
		return nil
	})
	assert.Empty(t, s.wrong, "%+v", j.Kills)
	return s.result
}

// process is the state of the program at one process.
type process struct {
	*stocked
	static  []int64
	forward int
	settled bool // a Protect has returned
}

func (p *process) body(ctx context.Context, w *recovery.World) error {
	if p.settled != (w.Role() == recovery.RoleSurvivor) {
		p.note("rank %d has role %d in attempt %d, a Protect has returned: %v", w.Rank(), w.Role(), w.Attempt(), p.settled)
	}
	isNew, err := collectives.AllgatherValue(ctx, w.Comm(), w.Role() == recovery.RoleRecovered)
	if err != nil {
		return err
	}
	var lost []int
	for rank, is := range isNew {
		if is {
			lost = append(lost, rank)
		}
	}
	if fmt.Sprint(lost) != fmt.Sprint(w.Lost()) {
		p.note("rank %d, attempt %d: lost are %v, and the new ones %v", w.Rank(), w.Attempt(), w.Lost(), lost)
	}
	u := 0
	v, err := w.Protect(ctx, recovery.Value("u", &u), recovery.Slice("static", &p.static, recovery.Static()), recovery.Value("forward", &p.forward, recovery.Forward()))
	if err != nil {
		return err
	}
	p.settled = true
	want := []int64{int64(100*w.Rank() + 1), 7}
	switch {
	case v.IsZero():
		p.static = want
	case fmt.Sprint(p.static) != fmt.Sprint(want) || p.forward < u:
		p.note("rank %d, attempt %d, version %v: static %v, forward %d, u %d", w.Rank(), w.Attempt(), v, p.static, p.forward, u)
	}
	for range w.Steps(ctx, stockedSteps) {
		w.AwaitFiles(true)
		if err := collectives.Barrier(ctx, w.Comm()); err != nil {
			return err
		}
		u++
		p.forward = max(p.forward, u)
	}
	if w.Err() != nil {
		return w.Err()
	}
	mine := append(p.static, 0)[0] // the value may be missing, which was noted
	sum, err := collectives.AllreduceOne(ctx, w.Comm(), mine, collectives.Sum)
	if err == nil && w.Rank() == 0 {
		p.mu.Lock()
		p.result = fmt.Sprint(u, " ", sum)
		p.mu.Unlock()
	}
	return err
}

// TestMembersOverTwoDeaths: one of four ranks dies at each mark of the first attempt, and then
// another one, or its successor, at each mark of the repair. Static and forward members have the
// data of their rank, and a rank is new until a Protect has returned. RECOVERY_PAIRS=all tries all
// pairs, which takes minutes; by default the first deaths are some of rank 0.
func TestMembersOverTwoDeaths(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred jobs")
	}
	for name, cfg := range map[string]recovery.Config{
		"copies": {Every: 2, Copies: 2, Log: slog.New(slog.DiscardHandler)},
		"memory": {Every: 2, NodeMemory: recovery.NodeMemoryWithoutCopies, Log: slog.New(slog.DiscardHandler)},
	} {
		t.Run(name, func(t *testing.T) {
			s, jobs := &stocked{cfg: cfg}, 0
			j := commtest.Job{N: 4, NodeMemory: name == "memory"}
			try := func(j commtest.Job) string { return s.run(t, j) }
			assert.Equal(t, "6 604", try(j))
			for i, k := range commtest.EachKill(t, j, try) {
				if os.Getenv("RECOVERY_PAIRS") != "all" && (k.Rank != 0 || i%longtest.N(20, 10) != 0) {
					continue
				}
				next := j
				next.Kills = []commtest.Killed{k}
				jobs += len(commtest.EachKill(t, next, try))
				if t.Failed() {
					return
				}
			}
			t.Logf("%d jobs with two deaths", jobs)
		})
	}
}

// TestMembersFromFilesOverADeath: a job continues from files, and a rank dies before receiving the
// data. In the next attempt the others read all members from the files, including static and
// forward ones.
func TestMembersFromFilesOverADeath(t *testing.T) {
	for _, mark := range []string{"restore.plan", "restore.move", "restore.done", "repair.agree"} {
		var log lines
		s := &stocked{cfg: recovery.Config{Every: 1, Log: log.logger(), Files: recovery.Files{Dir: t.TempDir(), Job: "stocked", Every: 1}}}
		assert.Equal(t, "6 604", s.run(t, commtest.Job{N: 4}))
		assert.Equal(t, "6 604", s.run(t, commtest.Job{N: 4, Kills: []commtest.Killed{{Rank: 3, Mark: mark, At: 1}}}), mark)
		assert.Contains(t, log.String(), "ranks=4 replaced=[3] processes=[4] from=files version=stocked-1-", mark)
	}
}
