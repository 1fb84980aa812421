package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/store/jetstream"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// revoke ends the token that admitted a member.
func (p *trial) revoke(name string) {
	book, err := join.Read(p.dir)
	require.NoError(p.t, err)
	for _, m := range book.Members {
		if m.Name == name {
			require.NoError(p.t, exec.Command(built().gridrpc, "token", "revoke", "--dir", p.dir, m.Grant).Run())
			return
		}
	}
	require.Fail(p.t, "nobody of that name", name)
}

// join gets an identity for this process by a token, in a folder of its own.
func (p *trial) join(role, name string) (dir string) {
	dir, _, err := gridrpc.Enter(p.t.Context(), gridrpc.Membership{Dir: filepath.Join(p.t.TempDir(), name), Token: p.token("--role", role), Name: name}, role == "server")
	require.NoError(p.t, err)
	return dir
}

// holdAt begins calls that never end in their first attempts, until one is at the given server. It
// returns a function that waits for the end of that one.
func holdAt(ctx context.Context, t *testing.T, c *gridrpc.Client, server string, told func(gridrpc.Event)) func() (*where, error) {
	hold := gridrpc.Service[float64, where](c, "hold")
	for range 8 {
		at := make(chan string, 1)
		s, err := hold.Go(ctx, new(2.0), gridrpc.Watch(func(e gridrpc.Event) {
			if e.What == gridrpc.Progressed && e.Attempt == 1 {
				at <- e.Server
			}
			told(e)
		}))
		require.NoError(t, err)
		if <-at == server {
			return func() (*where, error) { return s.Wait(ctx) }
		}
	}
	require.Fail(t, "no call came to "+server)
	return nil
}

// TestRevokedServer: a joined server is cut off when its token is revoked, although its connections
// are open and it answers. A call there continues at another server, and the platform no longer
// offers the revoked one.
func TestRevokedServer(t *testing.T) {
	p := startTrial(t, "--tree", "1x1", "--no-restart")
	server := newElsewhere(t)
	server.serve(p, "--join", p.token(), "--name", "far", built().trial)
	p.await("far: has the parent ma")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	c := p.dial()
	awaitOffers(t, c, "hold", 2)
	why := make(chan string, 8)
	end := holdAt(ctx, t, c, "far", func(e gridrpc.Event) {
		if e.What == gridrpc.Lost && e.Server == "far" {
			why <- e.Text
		}
	})
	begun := time.Now()
	p.revoke("far")
	assert.Equal(t, "its token was revoked", <-why)
	out, err := end()
	require.NoError(t, err)
	assert.Equal(t, "s1", out.Server)
	p.await("ma: has cut off server far, whose token was revoked")
	t.Logf("revoked to a result from elsewhere, and cut off at the master: %v", time.Since(begun).Round(time.Millisecond))
	awaitOffers(t, c, "hold", 1)
	assert.Equal(t, 1, strings.Count(p.told(), "far: has the parent"), "it has not come again")
}

// TestRevokedClient: a joined client is cut off when its token is revoked: by masters, by servers
// with and without sight of the platform's folder, and by the store.
func TestRevokedClient(t *testing.T) {
	longtest.Skip(t, "a client whose certificate is revoked")
	p := startTrial(t, "--tree", "1x1", "--store", "jetstream", "--no-restart")
	server := newElsewhere(t)
	server.serve(p, "--join", p.token(), "--name", "far", built().trial)
	p.await("far: has the parent ma")
	dir := p.join("client", "guest")
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	c, err := gridrpc.Dial(ctx, "", gridrpc.As(gridrpc.Membership{Dir: dir}), gridrpc.Detect(time.Second))
	require.NoError(t, err)
	defer c.Close()
	awaitOffers(t, c, "hold", 2)
	holdAt(ctx, t, c, "far", func(gridrpc.Event) {})
	holdAt(ctx, t, c, "s1", func(gridrpc.Event) {})
	stored := p.toStore(dir)

	begun := time.Now()
	p.revoke("guest")
	for _, name := range []string{"ma", "s1", "far"} {
		p.await(name + ": has cut off client guest, whose token was revoked")
	}
	select {
	case <-stored:
	case <-ctx.Done():
		assert.Fail(t, "the store has not closed its connection")
	}
	t.Logf("cut off everywhere after %v", time.Since(begun).Round(time.Millisecond))
	_, err = c.Offers(ctx)
	require.ErrorIs(t, err, gridrpc.ErrNoMaster)
	require.NoError(t, ctx.Err())
	_, err = gridrpc.Service[float64, where](p.dial(), "square").Call(ctx, new(3.0))
	require.NoError(t, err, "others are served")
}

// toStore opens a connection to the platform's own store, and returns a channel that closes with
// it.
func (p *trial) toStore(home string) <-chan struct{} {
	name, err := discovery.Store(p.dir)
	require.NoError(p.t, err)
	servers, _, err := jetstream.Parse(name)
	require.NoError(p.t, err)
	id, err := join.Load(home)
	require.NoError(p.t, err)
	closed := make(chan struct{})
	conn, err := nats.Connect("nats://"+servers[0], nats.Secure(id.TLS(link.Store)), nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	require.NoError(p.t, err)
	p.t.Cleanup(conn.Close)
	return closed
}
