package shmem_test

import (
	"context"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// asProcess is true in a rank that a launcher has started, and false in the test itself.
var asProcess = os.Getenv("SHMEM_TEST_RANK") != ""

// world is the world of this process, once created, and used is true once a test has run in this
// process.
var (
	world *comm.Comm
	used  bool
)

// run runs body as n goroutine ranks: that share memory, on two nodes, and with all operations by
// messages. A process of a job of n runs body as its rank, the first time.
func run(t *testing.T, n int, body func(ctx context.Context, c *comm.Comm)) {
	t.Helper()
	if !asProcess {
		t.Run("memory", func(t *testing.T) { commtest.Run(t, n, body) })
		t.Run("nodes", func(t *testing.T) { commtest.Nodes(slices.Repeat([]int{0, 1}, n)[:n]).Run(t, body) })
		t.Run("messages", func(t *testing.T) { commtest.Config{Messages: true}.Run(t, n, body) })
		return
	}
	if world == nil {
		var err error
		if world, err = comm.Init(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if used || world.Size() != n {
		return
	}
	used = true
	body(t.Context(), world)
	if err := world.Finalize(t.Context()); err != nil {
		t.Error(err)
	}
}

// kill ends this rank.
func kill(c *comm.Comm) {
	if !asProcess {
		commtest.Kill(c)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is in transit
}

// awaitFailure waits until this rank knows that the given number of members have failed.
func awaitFailure(ctx context.Context, c *comm.Comm, n int) error {
	if !asProcess {
		return commtest.AwaitFailure(ctx, c, n)
	}
	for c.GetFailed().Size() < n && ctx.Err() == nil {
		yield()
	}
	return ctx.Err()
}
