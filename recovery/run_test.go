package recovery

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// TestCallsOfTheDead: a mismatch with a rank that has died is no mistake of the living.
// (internal/testing/sim/repairs simulates worlds in which such a mismatch occurs.)
func TestCallsOfTheDead(t *testing.T) {
	mismatch := &ulfm.Error{Op: "shrink", Ranks: []int{2, 1}, Err: fmt.Errorf("%w: rank 2 called agree_failed", comm.ErrMismatch)}
	assert.True(t, isOfTheDead(mismatch, []int{0, 2}))
	assert.False(t, isOfTheDead(mismatch, []int{0}), "both live")
	assert.False(t, isOfTheDead(&ulfm.Error{Op: "shrink", Ranks: []int{2}, Err: ulfm.ErrProcFailed}, []int{2}))
	assert.False(t, isOfTheDead(nil, []int{2}))
}
