package enginejob

import (
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInvitations: a daemon that comes when the world runs gets a place, the same for each
// request. A daemon that asks again on standby gets no second one. A daemon for which there was
// no room gets the first free place.
func TestInvitations(t *testing.T) {
	h := newCoordinator("k", 1, time.Second)
	h.register.areNodes = true
	first := introduction{Build: buildid.Build, Key: "k", Size: 1, Host: "a", Ranks: []int{0}, Birth: 1}
	_, err := h.enter(first)
	require.NoError(t, err)
	ask := func(birth uint64, onStandby bool) string {
		in := first
		in.Birth, in.Standby = birth, onStandby
		require.True(t, h.isStandby(in))
		line, err := h.tellStandby(in)
		require.NoError(t, err)
		return string(line)
	}
	const aside = `{"beside":true,"over":false,"code":0}`
	assert.Equal(t, aside, ask(2, false), "nobody is taken in yet")
	room := 1
	mixed{handOut: handOut{h: h}}.Opens(func(name string) ([]byte, bool) {
		assert.Equal(t, "a", name)
		room--
		return []byte("place"), room >= 0
	})
	assert.Equal(t, "place", ask(3, false))
	assert.Equal(t, "place", ask(3, false), "the first answer was lost")
	assert.NotContains(t, h.standbys, uint64(3))
	assert.Equal(t, aside, ask(4, false), "no room")
	close(h.over)
	assert.Equal(t, `{"beside":true,"over":true,"code":0}`, ask(3, true), "it came too late")
	room = 1
	assert.Equal(t, "place", ask(4, true), "there is room again")
}
