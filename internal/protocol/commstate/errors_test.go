package commstate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/ulfm"
)

// TestMistakesAreNotRecoverable: shrinking does not mend a wrong argument, so a
// program that recovers while ulfm.Recoverable holds ends.
func TestMistakesAreNotRecoverable(t *testing.T) {
	for _, err := range []error{ErrMismatch, ErrPeerArgument, ErrLength, ErrFreed} {
		assert.False(t, ulfm.Recoverable(&ulfm.Error{Op: "split", Err: err}), "%v", err)
	}
}
