package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdle: on random ops Idle agrees with the lists of the dumb version: no posted receive,
// wildcards included, could take a message of the source, and no message of the source waits.
// Otherwise a receive that polls the next cell itself would overtake.
func TestIdle(t *testing.T) {
	saw := map[bool]int{}
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 77))
		g := opReader{next: func() byte { return byte(rng.Uint32()) }}
		w := newTwin()
		for range 20_000 {
			o := g.op()
			_, err := w.do(o)
			require.NoError(t, err)
			for src := range 4 {
				want := w.dumb.idle(o.ctx, src)
				require.Equal(t, want, w.real.m.Idle(o.ctx, src), "seed %d, after %+v, source %d", seed, o, src)
				saw[want]++
			}
		}
	}
	require.Greater(t, saw[true], 10_000)
	require.Greater(t, saw[false], 10_000)
}

func (d *dumb) idle(ctx uint32, src int) bool {
	s := d.spaces[ctx]
	return s.state == Live && src < s.members &&
		!slices.ContainsFunc(d.posted, func(r dumbRecv) bool { return r.ctx == ctx && (r.src == src || r.src == Any) }) &&
		!slices.ContainsFunc(d.messages, func(m dumbMessage) bool { return m.ctx == ctx && m.src == src })
}
