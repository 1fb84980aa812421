package pausepoint

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSettings(t *testing.T) {
	p, err := parse("seed=7,rate=24,min=2ms,max=15ms,place=engine.")
	require.NoError(t, err)
	assert.Equal(t, plan{seed: 7, rate: 24, min: 2 * time.Millisecond, max: 15 * time.Millisecond, place: "engine."}, p)
	for _, bad := range []string{"", "rate=0", "min=5ms,max=1ms", "rate=x", "speed=1"} {
		_, err := parse(bad)
		assert.Error(t, err, bad)
	}
}

func TestPausesAreRareAndBounded(t *testing.T) {
	p := plan{seed: 3, rate: 100, min: time.Millisecond, max: 50 * time.Millisecond}
	paused := 0
	for visit := range uint64(100000) {
		d := p.pause(visit)
		if d == 0 {
			continue
		}
		paused++
		require.GreaterOrEqual(t, d, p.min)
		require.LessOrEqual(t, d, p.max)
	}
	assert.InDelta(t, 1000, paused, 150)
	assert.Equal(t, p.pause(17), p.pause(17), "the same visit pauses alike")
}
