package boot

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
)

// A fakeDaemon is the other end of the lifeline of a process. The daemon stays open, because a
// process in Listen ends with its daemon.
type fakeDaemon struct {
	t   *testing.T
	out *io.PipeWriter
}

// withDaemon returns a process that has joined, and its daemon.
func withDaemon(t *testing.T) (*Process, fakeDaemon) {
	r, w := io.Pipe()
	return &Process{line: &writes{}, in: rankproto.FromDaemon(r, 8), answers: map[uint64]chan rankproto.Spawned{}}, fakeDaemon{t, w}
}

func (d fakeDaemon) say(messages ...rankproto.Message) {
	for _, m := range messages {
		line, err := rankproto.Encode(0, m)
		assert.NoError(d.t, err)
		_, err = d.out.Write(line)
		assert.NoError(d.t, err)
	}
}

// within returns the next value of a channel.
func within[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(10 * time.Second):
		require.Fail(t, "it does not come")
	}
	return v
}

// awaitAsks waits until the process has made n requests.
func (p *Process) awaitAsks(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.line.(*writes).texts) == n
	}, 10*time.Second, time.Millisecond)
}

// TestAnswersOutOfOrder: each request gets its own answer. The answer to an abandoned request is
// not lost, because the processes that were started for the request have to be refused. A
// duplicate has no effect, and neither has an answer without a request.
func TestAnswersOutOfOrder(t *testing.T) {
	p, daemon := withDaemon(t)
	go p.Listen(func() {}, func([16]byte) {})
	late := make(chan rankproto.Spawned, 10)
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		_, err := p.Ask(ctx, rankproto.Spawn{N: 1, Procs: []int{0}}, func(m rankproto.Spawned) { late <- m })
		given <- err
	}()
	p.awaitAsks(t, 1)
	answered := make(chan rankproto.Spawned, 1)
	go func() {
		m, err := p.Ask(t.Context(), rankproto.Spawn{N: 2, Procs: []int{0}}, func(rankproto.Spawned) {})
		assert.NoError(t, err)
		answered <- m
	}()
	p.awaitAsks(t, 2)
	second := rankproto.Spawned{Token: 2, First: 5, N: 2}
	daemon.say(second, second, rankproto.Spawned{Token: 9, First: 7, N: 1})
	assert.Equal(t, second, within(t, answered))
	cancel()
	require.ErrorIs(t, within(t, given), context.Canceled)
	first := rankproto.Spawned{Token: 1, First: 4, N: 1}
	daemon.say(first)
	assert.Equal(t, first, within(t, late))
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Empty(t, p.answers)
}

// TestOneWayOnly: a process that another node cannot dial dials that node, also while the process
// waits for its world. The revocations of dead processes reach the process.
func TestOneWayOnly(t *testing.T) {
	p, daemon := withDaemon(t)
	asked := make(chan rankproto.Meet, 10)
	p.meet = func(m rankproto.Meet) { asked <- m }
	keep := rankproto.Keep{First: 4, Procs: []int{0, 4}, Indices: []uint32{0, 1}, UID: make([]byte, 16)}
	go daemon.say(rankproto.Prove{}, rankproto.Meet{Proc: 3}, rankproto.Spawned{Token: 1}, keep)
	kept := make(chan rankproto.Keep, 1)
	go func() {
		m, err := p.Kept()
		assert.NoError(t, err)
		kept <- m
	}()
	assert.Equal(t, 4, within(t, kept).First)
	assert.Equal(t, rankproto.Meet{Proc: 3}, within(t, asked))

	dumped, revoked := make(chan bool, 1), make(chan [16]byte, 1)
	go p.Listen(func() { dumped <- true }, func(name [16]byte) { revoked <- name })
	name := [16]byte{7}
	daemon.say(rankproto.Meet{Proc: 2, Lane: 1}, rankproto.Revoked{Name: name[:]}, rankproto.Describe{})
	assert.Equal(t, rankproto.Meet{Proc: 2, Lane: 1}, within(t, asked))
	assert.Equal(t, name, within(t, revoked))
	assert.True(t, within(t, dumped))
}

// TestTheLauncherIsGoneBeforeTheWorld: a process that waits for its world learns that no world
// comes.
func TestTheLauncherIsGoneBeforeTheWorld(t *testing.T) {
	p, daemon := withDaemon(t)
	require.NoError(t, daemon.out.Close())
	_, err := p.Kept()
	assert.EqualError(t, err, "the launcher is gone")
}

// TestASlotHasOneProcess: the second process that claims a slot is refused, whether the first is
// alive or dead.
func TestASlotHasOneProcess(t *testing.T) {
	for _, word := range []uint32{0, 0x40000000} {
		taken := new(uint32)
		*taken = word
		if word == 0 {
			require.NoError(t, putUpTombstone(taken))
			assert.NotZero(t, *taken)
		}
		assert.ErrorIs(t, putUpTombstone(taken), errTaken)
	}
}
