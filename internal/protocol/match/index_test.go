package match

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongQueuesFromTheLastTag meets 200,000 messages and receives from the last tag to the first,
// in both orders of arrival and by both kinds of source. A search entry by entry takes minutes.
func TestLongQueuesFromTheLastTag(t *testing.T) {
	const count = 200_000
	for _, src := range []int{1, Any} {
		m := New()
		m.Open(0, 2, false)
		for tag := range count {
			msg := m.Message()
			msg.Src, msg.Tag = 1, tag
			require.True(t, m.Keep(msg))
		}
		for tag := count - 1; tag >= 0; tag-- {
			msg := m.Post(&Recv{Src: src, Tag: tag})
			require.NotNil(t, msg)
			require.Equal(t, tag, msg.Tag)
			m.Recycle(msg)
		}
		recvs := make([]Recv, count)
		for tag := range recvs {
			recvs[tag] = Recv{Src: src, Tag: tag}
			require.Nil(t, m.Post(&recvs[tag]))
		}
		for tag := count - 1; tag >= 0; tag-- {
			require.Same(t, &recvs[tag], m.Arrive(0, 1, tag))
		}
		require.NoError(t, m.check())
	}
}

// TestLongQueueThatNeverEmpties posts and withdraws beside receives that stay: an index does not
// keep for ever the entries that have left.
func TestLongQueueThatNeverEmpties(t *testing.T) {
	m := New()
	m.Open(0, 2, false)
	stay := make([]Recv, 2*longQueue)
	for i := range stay {
		stay[i] = Recv{Src: 1, Tag: 7}
		m.Post(&stay[i])
	}
	gone := Recv{Src: 1, Tag: 9}
	for range 100 * longQueue {
		m.Post(&gone)
		require.True(t, m.Withdraw(&gone))
	}
	x := m.table.space(0).sources.At(1).posted.index
	require.NotNil(t, x)
	assert.LessOrEqual(t, x.entries, 2*len(stay)+longQueue+1)
	for range stay {
		require.NotNil(t, m.Arrive(0, 1, 7))
	}
	assert.Nil(t, m.table.space(0).sources.At(1).posted.index, "the queue is short again")
}

// TestLongQueueKeepsTheOrder: among receives of one source, those of a tag, of any tag and of some
// tags match in the order posted, also with an index.
func TestLongQueueKeepsTheOrder(t *testing.T) {
	m := New()
	m.long = 0
	m.Open(0, 2, false)
	wants := []int{5, Any, Loosely(4, 1), 5, 5, Any}
	recvs := make([]Recv, len(wants))
	for i, want := range wants {
		recvs[i] = Recv{Src: 1, Tag: want}
		require.Nil(t, m.Post(&recvs[i]))
	}
	for i := range recvs {
		assert.Same(t, &recvs[i], m.Arrive(0, 1, 5), "receive %d", i)
	}
}
