package commtest_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// numbers runs a job in which each process passes one point, and returns the numbers of the
// processes that completed an agreement after the point without an error.
func numbers(t *testing.T, j commtest.Job) (passed []int) {
	t.Helper()
	var mu sync.Mutex
	j.Run(t, func(_ context.Context, w *comm.Comm) error {
		w.Mark("here", 1)
		if _, err := w.Agree(context.Background(), 1); err != nil {
			return nil //nolint:nilerr // another process has died, or this one
		}
		mu.Lock()
		defer mu.Unlock()
		passed = append(passed, w.Group().Processes()[w.Rank()])
		return nil
	})
	slices.Sort(passed)
	return passed
}

// TestRestarts: when all processes have died, others begin on the same nodes, at most Restarts
// times.
func TestRestarts(t *testing.T) {
	var kills []commtest.Killed
	for number := range 4 {
		kills = append(kills, commtest.Killed{Rank: number, Mark: "here", At: 1})
	}
	assert.Equal(t, []int{2, 3}, numbers(t, commtest.Job{N: 2, Restarts: 2, Kills: kills[:2]}))
	assert.Equal(t, []int{4, 5}, numbers(t, commtest.Job{N: 2, Restarts: 2, Kills: kills}))
	assert.Empty(t, numbers(t, commtest.Job{N: 2, Restarts: 1, Kills: kills}))
	assert.Empty(t, numbers(t, commtest.Job{N: 2, Kills: kills[:2]}))
	assert.Empty(t, numbers(t, commtest.Job{N: 2, Room: 3, Restarts: 2, Kills: kills[:2]}), "there is no room")
}

// TestNodeIsKilled: all processes of a node die at once; the others continue.
func TestNodeIsKilled(t *testing.T) {
	var mu sync.Mutex
	var failed []int
	kill := commtest.Killed{Rank: 1, Mark: "here", At: 1, Node: true}
	commtest.Job{N: 4, Nodes: commtest.Nodes{0, 0, 1, 1}, Kills: []commtest.Killed{kill}}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		w.Mark("here", 1)
		s, err := w.Shrink(ctx)
		for err == nil && s.Size() > 2 {
			s, err = s.Shrink(ctx)
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, s.Group().Processes()...)
		return nil
	})
	assert.Equal(t, []int{2, 3, 2, 3}, failed)
}
