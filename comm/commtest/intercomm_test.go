package commtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
)

// TestIntercomm: each side has the ranks of the other in the order given, and messages cross
// between the sides.
func TestIntercomm(t *testing.T) {
	first, second := []int{3, 0}, []int{1, 4, 2}
	Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		ic, err := Intercomm(ctx, w, first, second)
		if !assert.NoError(t, err) {
			return
		}
		local, remote := first, second
		if w.Rank() != 3 && w.Rank() != 0 {
			local, remote = second, first
		}
		assert.Equal(t, local, ic.Group().Processes())
		assert.Equal(t, remote, ic.RemoteGroup().Processes())
		if ic.Rank() > 1 {
			return
		}
		got := []int{0}
		_, err = comm.SendRecv(ctx, ic.To(ic.Rank()), []int{w.Rank()}, ic.From(ic.Rank()), got)
		assert.NoError(t, err)
		assert.Equal(t, remote[ic.Rank()], got[0])
	})
}

// TestIntercommOfOtherGroups: groups that do not divide the ranks are an error, and nothing is
// made.
func TestIntercommOfOtherGroups(t *testing.T) {
	Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		for _, groups := range [][2][]int{
			{{0, 1, 2}, nil}, {nil, {0, 1, 2}}, {{0}, {1}}, {{0, 1}, {1, 2}}, {{0, 1}, {3}}, {{-1, 0}, {1, 2}}, {{0, 1}, {2, 3}}, {nil, nil},
		} {
			_, err := Intercomm(ctx, w, groups[0], groups[1])
			assert.ErrorIs(t, err, comm.ErrArgument, "%v", groups)
		}
	})
}
