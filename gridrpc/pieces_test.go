package gridrpc

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAppendPiece: pieces come together as they were, and the memory is never more than twice what has
// come, whatever was announced, nor more than that.
func TestAppendPiece(t *testing.T) {
	whole := bytes.Repeat([]byte("0123456789"), 10_000)
	for _, announced := range []uint64{uint64(len(whole)), 1 << 62} {
		var data []byte
		for rest := whole; len(rest) > 0; {
			n := min(len(rest), 777)
			data = appendPiece(data, rest[:n], announced)
			rest = rest[n:]
			assert.LessOrEqual(t, cap(data), max(2*len(data), 1024))
		}
		assert.Equal(t, whole, data)
		if announced == uint64(len(whole)) {
			assert.LessOrEqual(t, cap(data), len(whole)+1024)
		}
	}
}
