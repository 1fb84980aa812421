package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/store"
	"github.com/goulfm/goulfm/gridrpc/store/jetstream"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// waiting is a reader that returns the second half of its bytes only when the test permits it.
type waiting struct {
	io.Reader
	left  int // bytes until it waits
	begun chan bool
	goOn  chan bool
}

func (w *waiting) Read(p []byte) (int, error) {
	if w.left == 0 {
		close(w.begun)
		<-w.goOn
		w.left = -1
	}
	if w.left > 0 {
		p = p[:min(len(p), w.left)]
	}
	n, err := w.Reader.Read(p)
	if w.left > 0 {
		w.left -= n
	}
	return n, err
}

// TestReplicaKilled: the leader among the three processes of the store is killed during a Put, a
// Get and a call, together with the server of the call. Both files are complete, and the call
// continues from its latest checkpoint. The killed replica is restarted, and gets all data again.
func TestReplicaKilled(t *testing.T) {
	longtest.Skip(t, "a store of three replicas, one of them killed")
	begun := time.Now()
	p := startTrial(t, "--tree", "1x2", "--store", "jetstream")
	t.Logf("up after %v", time.Since(begun).Round(time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	s := p.store()
	large := bytes.Repeat([]byte("0123456"), 1<<20)
	require.NoError(t, s.Put(ctx, "read", int64(len(large)), bytes.NewReader(large)))
	r, err := s.Get(ctx, "read", 0, -1)
	require.NoError(t, err)
	half := make([]byte, len(large)/2)
	_, err = io.ReadFull(r, half)
	require.NoError(t, err)
	slow := &waiting{Reader: bytes.NewReader(large), left: 4 << 20, begun: make(chan bool), goOn: make(chan bool)}
	written := make(chan error, 1)
	go func() { written <- s.Put(ctx, "written", int64(len(large)), slow) }()
	<-slow.begun

	var killed time.Time
	var leader string
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Checkpointed && strings.HasSuffix(e.Text, "/1/manifest-3.json") {
			leader, _, err = s.Leader(ctx)
			assert.NoError(t, err)
			p.signal(leader, syscall.SIGKILL)
			p.signal(e.Server, syscall.SIGKILL)
			killed = time.Now()
			close(slow.goOn)
		}
	})
	out, err := gridrpc.Service[count, counted](p.dial(), "count").Call(ctx, &count{To: 6, Holds: []int{3}}, watch)
	require.NoError(t, err)
	t.Logf("leader %s killed: the call had ended after %v", leader, time.Since(killed).Round(time.Millisecond))
	assert.Equal(t, 2, out.Attempt)
	assert.Equal(t, 3, out.From)
	assert.Equal(t, "1 2 3 4 5 6 ", out.Text)
	require.NoError(t, <-written)
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(large, append(half, rest...)), "the bytes that were read during the loss are those of the file")
	r, err = s.Get(ctx, "written", 0, -1)
	require.NoError(t, err)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(large, all), "the bytes that were written during the loss are those of the file")
	t.Logf("Put and Get had ended %v after the loss", time.Since(killed).Round(time.Millisecond))
	require.Eventually(t, func() bool {
		_, whole, err := s.Leader(ctx)
		return err == nil && whole
	}, within, 50*time.Millisecond, "all three have everything again")
	t.Logf("all three had everything again %v after it", time.Since(killed).Round(time.Millisecond))
	require.Eventually(t, func() bool { // the call has ended: its checkpoints are deleted
		items, err := s.List(ctx, "")
		return err == nil && len(items) == 2
	}, within, 50*time.Millisecond)
}

// TestStoreStays: the next platform in a folder finds the stored data, with other processes and
// other certificates.
func TestStoreStays(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two stores, of some seconds each")
	}
	first := startTrial(t, "--tree", "1x1", "--store", "jetstream")
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	require.NoError(t, first.store().Put(ctx, "kept", 5, strings.NewReader("hello")))
	first.end()
	second := newTrial(t)
	second.dir = first.dir
	second.start([]string{built().trial}, "--tree", "1x1", "--store", "jetstream")
	r, err := second.store().Get(ctx, "kept", 0, -1)
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(data))
}

// store opens the platform's own store.
func (p *trial) store() *jetstream.Store {
	name, err := discovery.Store(p.dir)
	require.NoError(p.t, err)
	opened, err := store.Open(context.Background(), name)
	require.NoError(p.t, err)
	s, ok := opened.(*jetstream.Store)
	require.True(p.t, ok)
	p.t.Cleanup(s.Close)
	return s
}
