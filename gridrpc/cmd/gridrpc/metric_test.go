package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
)

// TestMetric: calls are sent to the server with the lowest metric of its service, through an agent,
// and to another one once its metric is lower.
func TestMetric(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TRIAL_METRIC", dir)
	set := func(server, value string) {
		fresh := filepath.Join(dir, "fresh")
		require.NoError(t, os.WriteFile(fresh, []byte(value), 0o600))
		require.NoError(t, os.Rename(fresh, filepath.Join(dir, server)))
	}
	set("s1", "5")
	set("s2", "-1")
	set("s3", "7")
	p := startTrial(t, "--tree", "1x3")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	awaitOffers(t, p.dial(), "square", 3)
	calledAt := func() string {
		c := p.dial() // a client that has called before may call again at the same server
		out, err := gridrpc.Service[float64, where](c, "square").Call(ctx, new(3.0))
		require.NoError(t, err)
		return out.Server
	}
	for range 3 { // a server has four places, and its agent counts each call as one until the next report
		assert.Equal(t, "s2", calledAt())
	}
	offers, err := p.dial().Offers(ctx)
	require.NoError(t, err)
	for _, o := range offers {
		if o.Service == "square" {
			assert.Equal(t, map[string]float64{"s1": 5, "s2": -1, "s3": 7}[o.Server], o.Metric)
		}
	}
	set("s3", "-2")
	for calledAt() != "s3" {
		require.NoError(t, ctx.Err(), "no call goes to s3")
	}
}
