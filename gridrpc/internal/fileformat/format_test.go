package fileformat

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCheck: the number alone decides. A broken file and a known format are no fault here.
func TestCheck(t *testing.T) {
	err := Check([]byte(`{"Call":7,"Format":4}`), 3)
	assert.ErrorIs(t, err, ErrLater)
	assert.EqualError(t, err, "a later format: format 4, and this build reads formats up to 3: use the build that wrote it, or a later gridrpc")
	for _, text := range []string{``, `{}`, `{"Format":3}`, `{"Format":1}`, `{"Format":"4"}`, `{"Format":4`, `[4]`} {
		assert.NoError(t, Check([]byte(text), 3), text)
	}
}
