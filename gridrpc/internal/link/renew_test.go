package link

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newIssued returns a new authority in a folder, changed by set unless set is nil, and a function
// that issues a certificate there and loads the identity.
func newIssued(t *testing.T, dir string, set func(*Authority)) (*Authority, func(role Role, name string) *Identity) {
	t.Helper()
	authority, err := NewAuthority("p")
	require.NoError(t, err)
	if set != nil {
		set(authority)
	}
	require.NoError(t, authority.Save(dir))
	return authority, func(role Role, name string) *Identity {
		t.Helper()
		require.NoError(t, authority.Issue(dir, role, name))
		id, err := Load(dir, name)
		require.NoError(t, err)
		return id
	}
}

// meet connects two processes by a handshake, and returns the connection.
func meet(t *testing.T, one, other *Identity) (a, b *tls.Conn, err error) {
	t.Helper()
	left, right := net.Pipe() // a write waits for a reader, also that of an alert
	for _, c := range []net.Conn{left, right} {
		require.NoError(t, c.SetDeadline(time.Now().Add(time.Second)))
		defer func() { require.NoError(t, c.SetDeadline(time.Time{})) }()
	}
	a, b = tls.Client(left, one.TLS(Worker)), tls.Server(right, other.TLS(Master))
	served := make(chan error, 1)
	go func() { served <- b.Handshake() }()
	err = a.Handshake()
	return a, b, errors.Join(err, <-served)
}

// echo sends a byte from a to b.
func echo(t *testing.T, a, b *tls.Conn) {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		_, err := a.Write([]byte{7})
		sent <- err
	}()
	var got [1]byte
	_, err := b.Read(got[:])
	require.NoError(t, err)
	require.NoError(t, <-sent)
	require.Equal(t, byte(7), got[0])
}

// TestRenewal, in virtual time: a connection of the first day stays for five days. Certificates are
// renewed after half of their lifetime, and later connections use the new ones. A process without
// renewal is refused after the end of its certificate.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		authority, load := newIssued(t, dir, nil)
		begun := time.Now()
		master, server, left := load(Master, "ma"), load(Worker, "s1"), load(Master, "left")
		var renewed []time.Duration
		failures := 0
		go master.KeepFresh(ctx, func(context.Context) (tls.Certificate, error) {
			require.NoError(t, authority.Issue(dir, Master, "ma"))
			renewed = append(renewed, time.Since(begun))
			return LoadPair(dir, "ma")
		}, func(string) {})
		go server.KeepFresh(ctx, func(context.Context) (tls.Certificate, error) { // every third try is a success
			if failures++; failures%3 != 0 {
				return tls.Certificate{}, errors.New("master away")
			}
			require.NoError(t, authority.Issue(dir, Worker, "s1"))
			return LoadPair(dir, "s1")
		}, func(text string) { assert.True(t, strings.Contains(text, "renewed")) })
		a, b, err := meet(t, master, server)
		require.NoError(t, err)
		for range 5 * 24 {
			time.Sleep(time.Hour) // of virtual time
			synctest.Wait()
			echo(t, a, b)
			c, d, err := meet(t, master, server)
			require.NoError(t, err)
			echo(t, d, c)
		}
		_, _, err = meet(t, left, server)
		require.ErrorContains(t, err, "expired")
		assert.Greater(t, failures, 15)
		require.Len(t, renewed, 10)
		for i, at := range renewed {
			assert.Equal(t, time.Duration(i+1)*Life/2, at.Round(time.Minute))
		}
	})
}

// TestFromFile: a process uses a certificate that "up" has written once it is newer.
func TestFromFile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		authority, load := newIssued(t, dir, func(a *Authority) { a.Life = time.Hour })
		id := load(Agent, "a1")
		first := id.Ends()
		go id.KeepFresh(ctx, id.FromFile(dir, "a1"), func(string) {})
		time.Sleep(40 * time.Minute)
		assert.Equal(t, first, id.Ends(), "nobody has made a new one")
		require.NoError(t, authority.Issue(dir, Agent, "a1"))
		time.Sleep(fileEach)
		synctest.Wait()
		assert.Equal(t, first.Add(40*time.Minute), id.Ends())
		role, name, err := id.Subject()
		require.NoError(t, err)
		assert.Equal(t, "agent a1", string(role)+" "+name)
	})
}

// TestRenewAfter, in virtual time: a certificate with an earlier renewal is renewed at that age
// each time, and its lifetime stays the same.
func TestRenewAfter(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		authority, load := newIssued(t, dir, func(a *Authority) { a.RenewAfter = time.Minute })
		id := load(Worker, "s1")
		assert.Equal(t, time.Now().Add(Life).Unix(), id.Ends().Unix())
		begun := time.Now()
		var renewed []time.Duration
		go id.KeepFresh(ctx, func(context.Context) (tls.Certificate, error) {
			renewed = append(renewed, time.Since(begun).Round(time.Second))
			require.NoError(t, authority.Issue(dir, Worker, "s1"))
			return LoadPair(dir, "s1")
		}, func(string) {})
		time.Sleep(3*time.Minute + 30*time.Second)
		synctest.Wait()
		assert.Equal(t, []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute}, renewed)
		assert.Equal(t, begun.Add(Life+3*time.Minute).Unix(), id.Ends().Unix())
		authority.RenewAfter = Life
		assert.Equal(t, Life/2, authority.RenewalAge(), "not after half of it")
	})
}

// TestOpenAuthority: a restarted platform keeps its authority.
func TestOpenAuthority(t *testing.T) {
	dir := t.TempDir()
	_, err := OpenAuthority(dir, "p")
	require.Error(t, err)
	first, _ := newIssued(t, dir, nil)
	second, err := OpenAuthority(dir, "p")
	require.NoError(t, err)
	assert.True(t, first.Certificate().Equal(second.Certificate()))
	require.NoError(t, second.Issue(dir, Worker, "s1"))
	id, err := Load(dir, "s1")
	require.NoError(t, err)
	_, err = id.Pair().Leaf.Verify(id.verifyOptions())
	require.NoError(t, err)
}
