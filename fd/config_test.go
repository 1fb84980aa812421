package fd

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
)

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		name                               string
		in                                 Config
		periodWant, timeoutWant, confirmed mono.Duration
	}{
		{name: "zero", periodWant: 100 * ms, timeoutWant: 400 * ms, confirmed: 200 * ms},
		{name: "short period, timeout at its least", in: Config{Period: 10 * ms}, periodWant: 10 * ms, timeoutWant: 200 * ms, confirmed: 100 * ms},
		{name: "short period allowed", in: Config{Period: 10 * ms, AllowShortTimeouts: true}, periodWant: 10 * ms, timeoutWant: 40 * ms, confirmed: 20 * ms},
		{name: "short timeout", in: Config{Timeout: 200 * ms}, periodWant: 50 * ms, timeoutWant: 200 * ms, confirmed: 100 * ms},
		{name: "long timeout", in: Config{Timeout: 10 * mono.Second}, periodWant: 100 * ms, timeoutWant: 10 * mono.Second, confirmed: 5 * mono.Second},
		{name: "all given", in: Config{Period: 1 * mono.Second, Timeout: 2 * mono.Second, Confirm: 3 * mono.Second}, periodWant: mono.Second, timeoutWant: 2 * mono.Second, confirmed: 3 * mono.Second},
	} {
		c.in.N = 2
		got := c.in.WithDefaults()
		if got.Period != c.periodWant || got.Timeout != c.timeoutWant || got.Confirm != c.confirmed {
			t.Errorf("%s: period %v, timeout %v, confirm %v", c.name, got.Period, got.Timeout, got.Confirm)
		}
		if err := c.in.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if again := got.WithDefaults(); again != got {
			t.Errorf("%s: defaults of defaults are %+v", c.name, again)
		}
	}
}

// TestTimesOfAQuality: the times follow from the requested quality.
func TestTimesOfAQuality(t *testing.T) {
	for detection, confirm := range map[adaptive.Duration]mono.Duration{230 * adaptive.Millisecond: 0, adaptive.Second: 0, 30 * adaptive.Second: 5 * mono.Second} {
		c := Config{N: 2, Mode: Ring, Confirm: confirm, Adaptive: &adaptive.QoS{Detection: detection}}
		require.NoError(t, c.Check())
		c = c.WithDefaults()
		require.NoError(t, c.Check())
		assert.Equal(t, c, c.WithDefaults())
		assert.Equal(t, mono.Duration(detection), c.Timeout+c.Confirm)
		assert.LessOrEqual(t, 3*c.Period, c.Timeout)
		if confirm == 0 {
			assert.Equal(t, mono.Duration(detection)/10, c.Confirm)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []Config{
		{},
		{N: 1 << 24},
		{N: 2, Me: 2},
		{N: 2, Me: -1},
		{N: 2, Mode: 2},
		{N: 2, Partition: 2},
		{N: 1<<22 + 1},
		{N: 2, Period: -1},
		{N: 2, Confirm: -1},
		{N: 2, Timeout: -1},
		{N: 2, Timeout: 199 * ms},
		{N: 2, Timeout: 199 * ms, Period: 300 * ms, AllowShortTimeouts: true},
		{N: 2, Timeout: DurationMax + 1},
		{N: 2, Confirm: DurationMax + 1},
		{N: 2, Period: DurationMax},
		{N: 2, Adaptive: &adaptive.QoS{}},
		{N: 2, Mode: Ring, Adaptive: &adaptive.QoS{Detection: -1}},
		{N: 2, Mode: Ring, Adaptive: &adaptive.QoS{Detection: 220 * adaptive.Millisecond}}, // TimeoutMin
		{N: 2, Mode: Ring, Adaptive: &adaptive.QoS{Detection: adaptive.Second}, Confirm: 600 * ms},
		{N: 2, Mode: Ring, Adaptive: &adaptive.QoS{Detection: adaptive.Second}, Confirm: -1},
		{N: 2, Mode: Ring, Adaptive: &adaptive.QoS{Detection: adaptive.Second}, Period: 100 * ms},
		{N: 2, Mode: Ring, Adaptive: &adaptive.QoS{Detection: adaptive.Second}, Timeout: 400 * ms},
	} {
		if err := c.Check(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v, want an error", c, err)
		}
	}
}
