package nodemem

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// TestCopyOfWhatIsOverwritten: a slow member copies a contribution, or a value, while its owner
// writes that of the next communicator there. Here the copy itself is the writer: its destination
// is the number of the line, or the tag of the value. A reader that does not check this word again
// accepts half of each.
func TestCopyOfWhatIsOverwritten(t *testing.T) {
	const slot, seq, writer, reader = 1, 1, 2, 0
	long := bytes.Repeat([]byte{0xAB}, 40)
	into := func(m *Series, at []byte) { m.n.copied = at[:0] }

	views := newWorld(t, 3).open(2)
	views[writer].Publish(slot, seq, onenode.Line{LongBytes: uint32(len(long))}, long)
	m := views[reader]
	require.Equal(t, long, m.Long(writer, slot, len(long)))
	into(m, m.lines.Bytes(m.line(writer, slot), segment.Line))
	assert.Nil(t, m.Long(writer, slot, len(long)), "a contribution")

	views = newWorld(t, 3).open(2)
	views[writer].Offer(slot, long)
	m = views[reader]
	require.Equal(t, long, m.Value(writer, slot))
	into(m, m.value(writer, slot).Bytes(0, 64))
	assert.Nil(t, m.Value(writer, slot), "a value")
}
