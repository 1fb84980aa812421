package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestStrangers: every process of a platform closes silent connections and those without a
// certificate. A client is served meanwhile.
func TestStrangers(t *testing.T) {
	longtest.Skip(t, "silent connections are closed after seconds")
	p := startTrial(t, "--masters", "3", "--tree", "1x1", "--store", "jetstream")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	offers, err := p.dial().Offers(ctx)
	require.NoError(t, err)
	targets := map[string]string{"server": offers[0].Addr}
	for _, group := range []string{discovery.Council, discovery.Replicas} {
		peers, err := discovery.Peers(p.dir, group)
		require.NoError(t, err)
		targets[group], targets[group+" among themselves"] = peers[0].Addr, peers[0].Route
	}
	agents, err := filepath.Glob(discovery.AddressFile(p.dir, "a*"))
	require.NoError(t, err)
	require.Len(t, agents, 1)
	targets["agent"] = discovery.Address(p.dir, "a1")

	var all sync.WaitGroup
	begun := time.Now()
	closed := func(name string, c net.Conn) {
		all.Go(func() {
			assert.NoError(t, c.SetReadDeadline(begun.Add(within)))
			_, err := io.Copy(io.Discard, c) // some send a greeting
			late, ok := err.(net.Error)
			assert.False(t, ok && late.Timeout(), "%s keeps a stranger", name)
			assert.NoError(t, c.Close())
		})
	}
	for name, addr := range targets {
		for range 300 {
			c, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			closed(name, c)
		}
	}
	c, err := tls.Dial("tcp", targets[discovery.Council], &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	closed("a master, after a handshake,", c)
	_, err = gridrpc.Service[float64, where](p.dial(), "square").Call(ctx, new(3.0))
	require.NoError(t, err)
	all.Wait()
	t.Logf("all strangers were gone after %v", time.Since(begun).Round(time.Millisecond))
}
