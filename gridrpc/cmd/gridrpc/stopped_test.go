package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
)

// relayed is a call of "relay". The test ends its attempts.
type relayed struct {
	p       *trial
	pipes   string
	events  chan gridrpc.Event
	session *gridrpc.Session[where]
}

func (p *trial) relay(ctx context.Context, c *gridrpc.Client) *relayed {
	r := &relayed{p: p, pipes: filepath.Join(p.t.TempDir(), "pipe"), events: make(chan gridrpc.Event, 100)}
	for n := range 3 {
		require.NoError(p.t, syscall.Mkfifo(fmt.Sprint(r.pipes, "-", n+1), 0o600))
	}
	var err error
	r.session, err = gridrpc.Service[string, where](c, "relay").Go(ctx, &r.pipes, gridrpc.Watch(func(e gridrpc.Event) { r.events <- e }))
	require.NoError(p.t, err)
	return r
}

// await waits for an event.
func (r *relayed) await(what gridrpc.EventKind, attempt int) gridrpc.Event {
	for {
		select {
		case e := <-r.events:
			if e.What == what && e.Attempt == attempt {
				return e
			}
		case <-time.After(within):
			require.FailNow(r.p.t, fmt.Sprintf("attempt %d was not %s", attempt, what))
		}
	}
}

// let ends the body of an attempt.
func (r *relayed) let(attempt int) {
	require.NoError(r.p.t, os.WriteFile(fmt.Sprint(r.pipes, "-", attempt), []byte("go"), 0o600))
}

// TestStoppedServer: a stopped server is suspected and given up, and another server gets the call.
// Later the stopped server resumes. The body that ends first gives the result, and the other one is
// cancelled.
func TestStoppedServer(t *testing.T) {
	for _, first := range []int{1, 2} {
		t.Run(fmt.Sprintf("attempt %d is done first", first), func(t *testing.T) {
			p := startTrial(t, "--tree", "1x2", "--no-restart")
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			c := p.dial(gridrpc.Detect(time.Second))
			r := p.relay(ctx, c)
			stopped := r.await(gridrpc.Progressed, 1).Server
			p.signal(stopped, syscall.SIGSTOP)
			begun := time.Now()
			r.await(gridrpc.Suspected, 1)
			r.await(gridrpc.Lost, 1)
			t.Logf("SIGSTOP to given up: %v", time.Since(begun))
			assert.NotEqual(t, stopped, r.await(gridrpc.Progressed, 2).Server)
			if first == 1 {
				p.signal(stopped, syscall.SIGCONT)
			}
			r.let(first)
			out, err := r.session.Wait(ctx)
			p.signal(stopped, syscall.SIGCONT)
			require.NoError(t, err)
			assert.Equal(t, first, out.Attempt)
			p.await(fmt.Sprintf("attempt %d was cancelled", 3-first))
		})
	}
}

// TestShortStop: a server that resumes before it is given up is trusted again, and no other server
// gets its call.
func TestShortStop(t *testing.T) {
	if testing.Short() {
		t.Skip("five seconds of silence")
	}
	p := startTrial(t, "--tree", "1x2", "--no-restart")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	r := p.relay(ctx, p.dial(gridrpc.Detect(5*time.Second)))
	stopped := r.await(gridrpc.Progressed, 1).Server
	p.signal(stopped, syscall.SIGSTOP)
	r.await(gridrpc.Suspected, 1)
	p.signal(stopped, syscall.SIGCONT)
	r.await(gridrpc.Trusted, 1)
	r.let(1)
	out, err := r.session.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, out.Attempt)
	assert.Equal(t, stopped, out.Server)
}
