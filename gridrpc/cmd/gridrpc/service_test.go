package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/store"
	"github.com/goulfm/goulfm/gridrpc/store/s3/seaweed"
)

// TestS3Service: checkpoints are in a real service with three copies. One of its servers is killed
// after the first checkpoint, and stays dead. The server of the call is killed after the third. The
// call continues at another server from there and makes more checkpoints. In the end none is left.
func TestS3Service(t *testing.T) {
	service := seaweed.Start(t, 4, 3)
	service.Bucket("ckpt")
	p := startTrial(t, "--tree", "1x2", "--no-restart", "--store", "s3://ckpt/mine")
	s, err := store.Open(context.Background(), "s3://ckpt/mine")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	var lost, killed time.Time
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Checkpointed && strings.HasSuffix(e.Text, "/1/manifest-1.json"):
			lost = time.Now()
			service.Kill("v1")
		case e.What == gridrpc.Checkpointed && strings.HasSuffix(e.Text, "/1/manifest-3.json"):
			killed = time.Now()
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	out, err := gridrpc.Service[count, counted](p.dial(), "count").Call(ctx, &count{To: 6, Holds: []int{3}}, watch)
	require.NoError(t, err)
	t.Logf("a server of the service killed: two checkpoints more %v later; then the call's: it had ended after %v",
		killed.Sub(lost).Round(time.Millisecond), time.Since(killed).Round(time.Millisecond))
	assert.Equal(t, 2, out.Attempt)
	assert.Equal(t, 3, out.From)
	assert.Equal(t, "1 2 3 4 5 6 ", out.Text)
	require.Eventually(t, func() bool { // the call has ended: its checkpoints are deleted
		items, err := s.List(ctx, "")
		return err == nil && len(items) == 0
	}, within, 50*time.Millisecond)
}

// TestS3ServiceWaits: the service has as many servers as copies. One is killed together with the
// server of the call. Existing objects can be read, and no object can be put. The call continues at
// another server, waits in its next checkpoint, and ends when the service is complete again.
func TestS3ServiceWaits(t *testing.T) {
	service := seaweed.Start(t, 3, 3)
	service.Bucket("ckpt")
	p := startTrial(t, "--tree", "1x2", "--no-restart", "--store", "s3://ckpt/mine")
	s, err := store.Open(context.Background(), "s3://ckpt/mine")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	lost, again := make(chan bool), make(chan bool)
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Checkpointed && strings.HasSuffix(e.Text, "/1/manifest-3.json"):
			service.Kill("v1")
			p.signal(e.Server, syscall.SIGKILL)
			close(lost)
		case e.What == gridrpc.Began && e.Attempt == 2:
			close(again)
		}
	})
	call, err := gridrpc.Service[count, counted](p.dial(), "count").Go(ctx, &count{To: 6, Holds: []int{3}}, watch)
	require.NoError(t, err)
	<-lost
	<-again
	short, stop := context.WithTimeout(ctx, 3*time.Second)
	defer stop()
	require.ErrorIs(t, s.Put(short, "other", 1, strings.NewReader("x")), context.DeadlineExceeded)
	items, err := s.List(ctx, "")
	require.NoError(t, err)
	for _, item := range items {
		assert.NotContains(t, item.Key, "/2/manifest", "a checkpoint has no place")
	}
	require.NotEmpty(t, items, "the call has not ended")
	service.Restart("v1")
	out, err := call.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, 2, out.Attempt)
	assert.Equal(t, 3, out.From)
	assert.Equal(t, "1 2 3 4 5 6 ", out.Text)
}
