package recovery

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// TestErrorOfABodyIsNamedOnce: the text is the rank and its error, and the class is ErrPeer.
func TestErrorOfABodyIsNamedOnce(t *testing.T) {
	err := errorOf(repair.Outcome{End: repair.Peer, Rank: 3, Text: "bad member"})
	assert.EqualError(t, err, "rank 3: bad member")
	assert.ErrorIs(t, err, ErrPeer)
	cause := errors.New("no such grid")
	err = ofBody{cause}
	assert.EqualError(t, err, "no such grid")
	assert.ErrorIs(t, err, ErrPeer)
	assert.ErrorIs(t, err, cause)
}
