package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestAncestorsAndObservers: in a chain of three agents a server and an agent know and observe the
// numbers of ancestors that the flags set. By default the server knows all four.
func TestAncestorsAndObservers(t *testing.T) {
	for i, c := range []struct {
		flags           []string
		known, observed int
	}{
		{nil, 4, 4},
		{[]string{"--ancestors", "3"}, 3, 1}, // (3-1)/4, rounded up
		{[]string{"--ancestors", "3", "--observers", "2"}, 3, 2},
	} {
		if !longtest.Row(i, 2) {
			continue
		}
		p := startTrial(t, append(c.flags, "--tree", "1x1x1x1")...)
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		client := p.dial()
		offers, err := client.Offers(ctx)
		require.NoError(t, err)
		id, err := link.Load(p.dir, discovery.ClientName)
		require.NoError(t, err)
		conn, err := id.Dial(offers[0].Addr)
		require.NoError(t, err)
		defer conn.Close()
		var d *pb.Description
		require.Eventually(t, func() bool { // lists are sent down level by level
			d, err = pb.NewNodeClient(conn).Describe(ctx, &pb.DescribeRequest{})
			return err == nil && len(d.Ancestors) >= c.known && len(d.Watched) >= c.observed
		}, within, 10*time.Millisecond, "%v", c.flags)
		assert.Len(t, d.Ancestors, c.known, "%v", c.flags)
		assert.Len(t, d.Watched, c.observed, "%v", c.flags)
		root, err := client.Describe(ctx)
		require.NoError(t, err)
		walk(root, func(d gridrpc.Description) {
			if d.Name == "a3" { // it has three ancestors and one child
				assert.Len(t, d.Watched, min(c.observed, 3)+1, "%v", c.flags)
			}
		})
		p.end()
	}
}
