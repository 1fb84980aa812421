package gridrpc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/codec"
)

// TestWaitIsOwn: two Waits for one call return separate values.
func TestWaitIsOwn(t *testing.T) {
	data, err := codec.Encode(codec.Gob, &[]byte{1})
	require.NoError(t, err)
	done := make(chan struct{})
	close(done)
	s := &Session[[]byte]{codec: Gob, flight: &flight{done: done, result: data}}
	a, err := s.Wait(t.Context())
	require.NoError(t, err)
	(*a)[0] = 7
	b, err := s.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []byte{1}, *b)
}
