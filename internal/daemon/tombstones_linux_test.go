package daemon

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/job"
	"github.com/goulfm/goulfm/internal/segment"
)

// all returns the events so far.
func (r *record) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// restart ends the process of seat 0, vacates the seat and starts the next process there.
func restart(t *testing.T, d *Daemon, r *record, script string) {
	t.Helper()
	require.True(t, d.Expect(1))
	d.Signal(0, 9)
	<-r.heard
	require.NoError(t, d.Vacate(0))
	started := make(chan error)
	d.OnStarter(func() {
		p, _ := shell(t, 0, script)
		started <- d.Start(p)
	})
	require.NoError(t, <-started)
	d.Unexpect(1)
}

// TestTombstoneOfAnEarlierProcess plays this schedule:
//
//	watcher                               daemon
//	reads that the process has died
//	                                      reaps it, vacates the seat, starts the next process there
//	find
//
// The next process lives.
func TestTombstoneOfAnEarlierProcess(t *testing.T) {
	r := &record{heard: make(chan int, 2)}
	d, _ := start(t, r, "exec sleep 1000")
	segment.Store32(d.node.Tombstone(0), segment.TombstoneDied)
	first, word := readTombstone(d.node, 0)
	assert.NotZero(t, word&segment.TombstoneDied)
	restart(t, d, r, "exec sleep 1000")
	second, word := readTombstone(d.node, 0)
	assert.NotEqual(t, first, second)
	assert.Zero(t, word, "the tombstone of the first process is gone")
	d.find(first, job.ByTombstone)
	assert.NotContains(t, r.all(), "0 found by tombstone, left false")
	d.find(second, job.ByTombstone)
	assert.Contains(t, r.all(), "0 found by tombstone, left false")
}
