package recovery

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/ulfm"
)

// TestMadeOn: a copy of a version that a world of another size has made keeps that placement.
// (internal/testing/sim has worlds in which the next death comes before the next commit.)
func TestMadeOn(t *testing.T) {
	assert.Equal(t, []int{7}, madeOn(repair.Plan{Size: 1, Nodes: []int{7}}, []int{7, 8}))
	assert.Equal(t, []int{7, 8}, madeOn(repair.Plan{Size: 2, Nodes: []int{5, 8}}, []int{7, 8}), "restored here since")
}

// TestCallsOfTheDead: a mismatch with a rank that has died is no mistake of the living.
// (internal/testing/sim simulates worlds in which such a mismatch occurs.)
func TestCallsOfTheDead(t *testing.T) {
	mismatch := &ulfm.Error{Op: "shrink", Ranks: []int{2, 1}, Err: fmt.Errorf("%w: rank 2 called agree_failed", comm.ErrMismatch)}
	assert.True(t, isOfTheDead(mismatch, []int{0, 2}))
	assert.False(t, isOfTheDead(mismatch, []int{0}), "both live")
	assert.False(t, isOfTheDead(&ulfm.Error{Op: "shrink", Ranks: []int{2}, Err: ulfm.ErrProcFailed}, []int{2}))
	assert.False(t, isOfTheDead(nil, []int{2}))
}
