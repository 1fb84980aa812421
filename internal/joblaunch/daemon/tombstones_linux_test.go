package daemon

import (
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// all returns the events so far.
func (r *record) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// restart ends process 0, vacates the slot and starts the next process there.
func restart(t *testing.T, d *Daemon, r *record, script string) {
	t.Helper()
	require.True(t, d.Expect(1))
	d.Signal(0, 9)
	<-r.heard
	require.NoError(t, d.Vacate(0))
	started := make(chan error)
	d.OnStarter(func() {
		p, _ := shell(t, 0, script)
		p.Number = job.NumberOf(0, 1)
		started <- d.Start(p)
	})
	err := <-started
	d.Unexpect(1)
	require.NoError(t, err)
}

// TestTombstoneOfAnEarlierProcess plays this schedule:
//
//	watcher                               daemon
//	reads that the process has died
//	                                      reaps it, vacates the slot, starts the next process there
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
	for _, event := range r.all() {
		assert.NotContains(t, event, "found by tombstone")
	}
	d.find(second, job.ByTombstone)
	assert.Contains(t, r.all(), "65536 found by tombstone, left false")
}

// TestOrdersForAnEarlierProcess: orders for the earlier process of a slot do nothing to the present
// one.
func TestOrdersForAnEarlierProcess(t *testing.T) {
	r := &record{heard: make(chan int, 2)}
	d, _ := start(t, r, "exec sleep 1000")
	restart(t, d, r, "read line <&4; echo \"$line\"")
	const first, second = 0, 1 << 16
	assert.Zero(t, d.Pid(first))
	assert.NotZero(t, d.Pid(second))
	assert.False(t, d.isLifeless(first))
	d.Signal(first, syscall.SIGKILL)
	d.Declare(first, false)
	_, departed := d.node.Departed(0)
	assert.False(t, departed)
	assert.Error(t, d.Vacate(first))
	d.Say(first, rankproto.Prove{})
	p, _ := shell(t, 0, "exit 0")
	assert.ErrorContains(t, d.Start(p), "its slot is that of process 65536")
	d.Say(second, rankproto.Describe{}) // it ends after the first line that it reads
	assert.Equal(t, second, <-r.heard)
	assert.Contains(t, r.all(), "65536 reaped: exit without Finalize")
}

// TestPulseOfAnEarlierProcess: the silence of the earlier process of a slot does not count against
// the present one.
func TestPulseOfAnEarlierProcess(t *testing.T) {
	r := &record{heard: make(chan int, 2)}
	d, _ := start(t, r, "exec sleep 1000")
	var p pulse
	d.node.Beat(0, 7)
	for range looksPerDuration + 1 {
		p.feel(d, 0)
	}
	assert.NotContains(t, r.all(), "0 shows no life")
	restart(t, d, r, "exec sleep 1000")
	d.node.Beat(0, 7)
	for !d.isLifeless(1 << 16) { // the shell is about to execute sleep
		runtime.Gosched()
	}
	for range looksPerDuration + 1 {
		p.feel(d, 0)
	}
	assert.NotContains(t, r.all(), "65536 shows no life")
	p.feel(d, 0)
	assert.Contains(t, r.all(), "65536 shows no life")
}
