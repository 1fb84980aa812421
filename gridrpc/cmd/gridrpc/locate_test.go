package main

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// awaitOffers waits until n servers offer a service.
func awaitOffers(t *testing.T, c *gridrpc.Client, service string, n int) {
	require.Eventually(t, func() bool {
		offers, err := c.Offers(t.Context())
		offers = slices.DeleteFunc(offers, func(o gridrpc.Offer) bool { return o.Service != service })
		return err == nil && len(offers) == n
	}, within, 5*time.Millisecond)
}

// TestGoesOnNearCheckpoint: four servers are on four machines, and the three processes of the store
// on the first three of them. The process of the store on the second machine is killed before the
// call, and then the server of the call, on the first. The other servers are equal. The call
// continues at the third one, because its machine has the latest checkpoint. By name the second
// would be the next.
func TestGoesOnNearCheckpoint(t *testing.T) {
	longtest.Skip(t, "a platform of several sites")
	p := startTrial(t, "--tree", "1x4", "--hosts", "4", "--store", "jetstream", "--no-restart")
	ctx, cancel := context.WithTimeout(t.Context(), 2*within)
	defer cancel()
	c := p.dial()
	awaitOffers(t, c, "count", 4)
	p.signal("st2", syscall.SIGKILL)
	var servers []string
	watch := gridrpc.Watch(func(e gridrpc.Event) {
		switch {
		case e.What == gridrpc.Submitted:
			servers = append(servers, e.Server)
		case e.What == gridrpc.Checkpointed && strings.HasSuffix(e.Text, "/1/manifest-3.json"): // where it waits
			p.signal(e.Server, syscall.SIGKILL)
		}
	})
	out, err := gridrpc.Service[count, counted](c, "count").Call(ctx, &count{To: 6, Holds: []int{3}}, watch)
	require.NoError(t, err)
	assert.Equal(t, []string{"s1", "s3"}, servers)
	assert.Equal(t, "s3", out.Server)
	assert.Equal(t, 3, out.From)
	assert.Equal(t, "1 2 3 4 5 6 ", out.Text)
}
