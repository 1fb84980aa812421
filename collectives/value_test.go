package collectives_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestBcastValueLeavesNothingOld: zero fields, missing keys and shorter slices of the root's
// value are what every member has afterwards, also two levels down.
func TestBcastValueLeavesNothingOld(t *testing.T) {
	type settings struct {
		Steps int
		Name  string
		Of    map[string]int
		Deep  struct{ On bool }
		List  []int
		Next  *settings
	}
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		want := settings{Name: "new", Of: map[string]int{"a": 1}, List: []int{1}, Next: &settings{Steps: 2}}
		v := want
		if w.Rank() != 1 {
			old := &settings{Name: "old", List: []int{9}}
			v = settings{Steps: 5, Name: "old", Of: map[string]int{"b": 2}, List: []int{7, 8, 9}, Next: old}
			v.Deep.On = true
		}
		assert.NoError(t, collectives.BcastValue(ctx, w, 1, &v))
		assert.Equal(t, want, v)

		n := 4 * (w.Rank() + 1)
		if w.Rank() == 1 {
			n = 0
		}
		assert.NoError(t, collectives.BcastValue(ctx, w, 1, &n))
		assert.Zero(t, n)
	})
}
