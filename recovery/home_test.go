package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/recovery"
)

// TestPairKept: the data of a pair are in the memory of their node when both die at once, and so
// are the data of all ranks but one.
func TestPairKept(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 4}, recovery.Config{})
	kept := commtest.Job{N: 4, NodeMemory: true}
	for _, use := range []recovery.NodeMemory{recovery.NodeMemoryWithCopies, recovery.NodeMemoryWithoutCopies} {
		cfg := recovery.Config{Every: 3, NodeMemory: use}
		assert.Equal(t, want, together(t, kept, cfg, 0, 2))
		assert.Equal(t, want, together(t, kept, cfg, 0, 1, 3))
		got, _ := run(t, commtest.Job{N: 1, NodeMemory: true}, cfg)
		alone, _ := run(t, commtest.Job{N: 1}, cfg)
		assert.Equal(t, alone, got)
	}
	wantLost(t, kept, recovery.Config{Every: 3, NodeMemory: recovery.NodeMemoryOff}, 0, 2)
	assert.Equal(t, want, together(t, commtest.Job{N: 4}, recovery.Config{Every: 3, Copies: 2, NodeMemory: recovery.NodeMemoryWithoutCopies}, 0, 2),
		"where there is no such memory copies are sent")
}

// TestAllDead: all die at once, and new processes continue from the memory of their nodes.
func TestAllDead(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 4}, recovery.Config{})
	for _, nodes := range []commtest.Nodes{nil, {0, 0, 1, 1}} {
		s := &sums{seen: map[int]int{}, meet: meetingOf(0, 1, 2, 3)}
		first := true
		j := commtest.Job{N: 4, Nodes: nodes, NodeMemory: true, Restarts: 1, Kills: s.meet.kills()}
		program := solver(s, recovery.Config{Every: 3})
		marks := j.Run(t, func(ctx context.Context, w *comm.Comm) error { return program(ctx, w) })
		assert.Equal(t, want, s.seen)
		for _, k := range marks {
			if k.Rank >= 4 && k.Mark == "step" {
				first = first && k.At > 6
			}
		}
		assert.True(t, first, "they begin with the seventh step: %v", marks)
	}
}

// TestEachPointKept: one rank dies at each point, and after that another one; also when only node
// memory has their committed data.
func TestEachPointKept(t *testing.T) {
	longtest.Skip(t, "some hundred jobs")
	if testing.Short() {
		t.Skip("some hundred jobs")
	}
	every := 25
	if os.Getenv("RECOVERY_PAIRS") == "all" {
		every = 1
	}
	for _, c := range []struct {
		n   int
		use recovery.NodeMemory
	}{{3, recovery.NodeMemoryWithCopies}, {3, recovery.NodeMemoryWithoutCopies}, {2, recovery.NodeMemoryWithoutCopies}} {
		t.Run(fmt.Sprint(c.n, " ranks, use ", c.use), func(t *testing.T) {
			try, jobs := tryField(t, recovery.Config{Every: 2, NodeMemory: c.use, Log: slog.New(slog.DiscardHandler)}), 0
			j := commtest.Job{N: c.n, NodeMemory: true, Restarts: 1}
			for i, k := range commtest.EachKill(t, j, try) {
				if i%every > 0 {
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

// TestAnotherNode: the replacement of a rank is on another node, and the lowest rank of the old
// node reads the home of the dead, even before the death of its own process.
func TestAnotherNode(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 4}, recovery.Config{})
	j := commtest.Job{N: 4, Nodes: commtest.Nodes{0, 0, 1, 1}, NodeMemory: true}
	for _, use := range []recovery.NodeMemory{recovery.NodeMemoryWithCopies, recovery.NodeMemoryWithoutCopies} {
		cfg := recovery.Config{Every: 3, NodeMemory: use}
		assert.Equal(t, want, together(t, j, cfg, 0, 2), "their successors are both on node 0")
		assert.Equal(t, want, together(t, j, cfg, 1, 3))
		s := &sums{seen: map[int]int{}, meet: meetingOf(0, 2)}
		next := j
		next.Kills = append(s.meet.kills(), commtest.Killed{Rank: 5, Mark: "step", At: 8}, commtest.Killed{Rank: 3, Mark: "step", At: 9})
		next.Run(t, solver(s, cfg))
		assert.Equal(t, want, s.seen)
	}
}

// TestNodeLost: a node is lost with its memory, and its ranks continue with the copies on the other
// node. The data are in the new memory as soon as Protect has returned: both of a pair may die
// before the next commit.
func TestNodeLost(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 4}, recovery.Config{})
	lost := commtest.Killed{Rank: 1, Mark: "step", At: 8, Node: true}
	j := commtest.Job{N: 4, Nodes: commtest.Nodes{0, 0, 1, 1}, NodeMemory: true, Kills: []commtest.Killed{lost}}
	got, _ := run(t, j, recovery.Config{Every: 3})
	assert.Equal(t, want, got)

	s := &sums{seen: map[int]int{}, meet: meetingOf(0, 2)}
	s.meet.attempt = 2
	j.Kills = append(j.Kills, commtest.Killed{Rank: 4, Mark: "met", At: 1}, commtest.Killed{Rank: 2, Mark: "met", At: 1})
	j.Run(t, solver(s, recovery.Config{Every: 3}))
	assert.Equal(t, want, s.seen)
}

// TestNodeLostAtEachPoint: a node with half of the ranks is lost at each point that one of them
// passes.
func TestNodeLostAtEachPoint(t *testing.T) {
	cfg := recovery.Config{Every: 3}
	j := commtest.Job{N: 4, Nodes: commtest.Nodes{0, 0, 1, 1}, NodeMemory: true}
	want, marks := run(t, j, cfg)
	for _, k := range marks {
		next := j
		k.Node = true
		next.Kills = []commtest.Killed{k}
		got, _ := run(t, next, cfg)
		assert.Equal(t, want, got, "%v", k)
		if t.Failed() {
			return
		}
	}
}

// TestNodeLostByAll: all ranks die, and one node is lost: the committed data are lost, and node
// memory shows that there was a commit.
func TestNodeLostByAll(t *testing.T) {
	for every, wanted := range map[int]error{7: recovery.ErrLost, 9: nil} {
		s := &sums{seen: map[int]int{}, meet: meetingOf(0, 1, 2, 3)}
		j := commtest.Job{N: 4, Nodes: commtest.Nodes{0, 0, 1, 1}, NodeMemory: true, Restarts: 1, Kills: s.meet.kills()}
		j.Kills[3].Node = true
		j.Run(t, func(ctx context.Context, w *comm.Comm) error {
			if err := solver(s, recovery.Config{Every: every})(ctx, w); !errors.Is(err, comm.ErrFenced) {
				assert.ErrorIs(t, err, wanted)
			}
			return nil
		})
	}
}

// TestShrinkKept: there are no replacements, and the data of a pair are distributed among the
// others, which commit them; then one more rank dies.
func TestShrinkKept(t *testing.T) {
	const rows = 11
	s := &sums{seen: map[int]int{}, meet: meetingOf(1, 3)}
	kills := append(s.meet.kills(), commtest.Killed{Rank: 2, Mark: "step", At: 12})
	commtest.Job{N: 4, Room: 4, NodeMemory: true, Kills: kills}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		cfg := recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 2, Shortage: recovery.ShortageShrink, NodeMemory: recovery.NodeMemoryWithoutCopies}
		return recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
			lo, hi := w.Block(rows)
			u := make([]int, hi-lo)
			if _, err := w.Protect(ctx, recovery.Slice("u", &u, recovery.Rows(rows, 1))); err != nil {
				return err
			}
			for step := range w.Steps(ctx, steps) {
				if step == 7 {
					s.meet.attend(w)
				}
				for i := range u {
					u[i] = (u[i]+lo+i)*31 + step
				}
				if err := collectives.Barrier(ctx, w.Comm()); err != nil {
					return err
				}
			}
			if w.Err() == nil {
				for i := range u {
					want := 0
					for step := range steps {
						want = (want+lo+i)*31 + step
					}
					assert.Equal(t, want, u[i])
				}
				s.put(w.Rank(), w.Size())
			}
			return w.Err()
		})
	})
	assert.Equal(t, map[int]int{0: 1}, s.seen)
}

// TestBagKept: the savings of ranks are in the memory of their node.
func TestBagKept(t *testing.T) {
	longtest.Skip(t, "some hundred jobs")
	j := commtest.Job{N: 3, NodeMemory: true, Restarts: 1}
	for _, use := range []recovery.NodeMemory{recovery.NodeMemoryWithCopies, recovery.NodeMemoryWithoutCopies} {
		commtest.EachKill(t, j, func(j commtest.Job) string {
			b := &bag{cfg: recovery.Config{NodeMemory: use}}
			b.run(t, j)
			b.check(t, len(j.Kills), j.Kills)
			return fmt.Sprint(b.results[0])
		})
	}
	both := j // the pair that keeps each other's copies, and all ranks
	for _, dead := range [][]int{{0, 1}, {1, 2}, {0, 1, 2}} {
		both.Kills = nil
		for _, rank := range dead {
			both.Kills = append(both.Kills, commtest.Killed{Rank: rank, Mark: "task", At: rank + 19})
		}
		b := &bag{}
		b.run(t, both)
		b.check(t, len(dead), dead)
	}
}

// TestManyAttempts: a rank is lost in one commit repeatedly, before storing its part. The parts
// that these attempts have left in the homes of the others are forgotten.
func TestManyAttempts(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 4}, recovery.Config{})
	j := commtest.Job{N: 4, NodeMemory: true, Kills: []commtest.Killed{{Rank: 1, Mark: "commit.keep", At: 2}}}
	for number := 4; number < 24; number++ {
		j.Kills = append(j.Kills, commtest.Killed{Rank: number, Mark: "commit.keep", At: 1})
	}
	got, _ := run(t, j, recovery.Config{Every: 3, Tries: 100})
	assert.Equal(t, want, got)
}

// TestMemoryMax: data that do not fit are an error with sizes at all ranks.
func TestMemoryMax(t *testing.T) {
	commtest.Job{N: 2, NodeMemory: true}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		cfg := recovery.Config{Log: slog.New(slog.DiscardHandler), Every: 1, MemoryMax: 1 << 20}
		err := recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
			u := make([]byte, 1<<19)
			if _, err := w.Protect(ctx, recovery.Slice("u", &u)); err != nil {
				return err
			}
			for step := range w.Steps(ctx, 5) {
				if step == 2 && w.Rank() == 1 {
					u = make([]byte, 1<<20)
				}
			}
			return w.Err()
		})
		assert.ErrorIs(t, err, recovery.ErrMemory)
		assert.ErrorContains(t, err, "of 1048576 are taken")
		return nil
	})
}

// TestVerifyKept: the home has the version before, too.
func TestVerifyKept(t *testing.T) {
	want, _ := run(t, commtest.Job{N: 4}, recovery.Config{})
	cfg := recovery.Config{Verify: true, NodeMemory: recovery.NodeMemoryWithoutCopies}
	assert.Equal(t, want, together(t, commtest.Job{N: 4, NodeMemory: true}, cfg, 0, 2))
}
