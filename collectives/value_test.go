package collectives_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestBcastValueLeavesNothingOld: every member afterwards has the zero fields, missing keys and
// shorter slices of the root's value, also two levels down.
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

// TestValues: each value arrives at its place, with any length, by all calls.
func TestValues(t *testing.T) {
	of := func(from, to int) string { return strings.Repeat(fmt.Sprint(from, to, " "), 1+1000*from*to) }
	for _, n := range []int{1, 2, 5} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			me := w.Rank()
			var row, column, first []string
			for r := range n {
				row, column, first = append(row, of(me, r)), append(column, of(r, me)), append(first, of(r, 1))
			}
			got, err := collectives.AlltoallValue(ctx, w, row)
			assert.NoError(t, err)
			assert.Equal(t, column, got)
			got, err = collectives.AllgatherValue(ctx, w, of(me, 1))
			assert.NoError(t, err)
			assert.Equal(t, first, got)
			for root := range n {
				v, err := collectives.ScatterValue(ctx, w, root, row)
				assert.NoError(t, err)
				assert.Equal(t, of(root, me), v)
				v, err = collectives.ReduceValue(ctx, w, root, of(me, 1), func(a, b string) string { return a + b })
				assert.NoError(t, err)
				assert.Equal(t, map[bool]string{true: strings.Join(first, "")}[me == root], v)
			}
		})
	}
}

// TestValuesThatCannotBe: a member with a wrong argument gets an error, the others are notified,
// and the next call works.
func TestValuesThatCannotBe(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		odd := w.Rank() == 1
		count := 3
		if odd {
			count = 2
		}
		_, err := collectives.AlltoallValue(ctx, w, make([]int, count))
		assert.ErrorIs(t, err, map[bool]error{true: comm.ErrLength, false: comm.ErrPeerArgument}[odd])
		_, err = collectives.AllgatherValue(ctx, w, func() {})
		assert.ErrorIs(t, err, comm.ErrType)
		_, err = collectives.ScatterValue(ctx, w, 1, make([]int, count))
		assert.ErrorIs(t, err, map[bool]error{true: comm.ErrLength, false: comm.ErrPeerArgument}[odd])
		_, err = collectives.ReduceValue(ctx, w, 0, 1, nil)
		assert.ErrorIs(t, err, comm.ErrUnsupported)
		all, err := collectives.AllgatherValue(ctx, w, w.Rank())
		assert.NoError(t, err)
		assert.Equal(t, []int{0, 1, 2}, all)
	})
}
