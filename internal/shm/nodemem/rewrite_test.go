//go:build failpoints

package nodemem

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/failpoint"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// TestNoHalfLine: a slow member of a closed communicator polls before each store by which the next
// communicator's contribution overwrites the old line. It reads the complete old line or none, and
// never the old number with a part of the new line.
func TestNoHalfLine(t *testing.T) {
	defer failpoint.On(nil)
	const slot, seq, writer = 1, 1, 2
	w := newWorld(t, 3)
	first := w.open(2)
	old, oldLong := onenode.Line{Call: 7, Flag: 1, LongBytes: 20}, bytes.Repeat([]byte{1}, 20)
	first[writer].Publish(slot, seq, old, oldLong)
	second := w.open(2 + segment.Blocks + 1)
	looks, saw := 0, 0
	failpoint.On(func(uint64) {
		looks++
		line, there := first[0].Read(writer, slot, seq)
		if !there {
			return
		}
		saw++
		require.Equal(t, old, line)
		require.Equal(t, oldLong, first[0].Long(writer, slot, len(oldLong)))
	})
	second[writer].Publish(slot, seq, onenode.Line{Call: 9, Flag: 2, LongBytes: 30}, bytes.Repeat([]byte{2}, 30))
	require.Greater(t, looks, 4)
	require.Positive(t, saw)
	_, there := first[0].Read(writer, slot, seq)
	require.False(t, there)
}
