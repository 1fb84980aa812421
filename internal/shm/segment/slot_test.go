package segment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRingsOfTheNextGeneration: the next process in a slot finds no ring of its predecessor. It
// gets the same memory, zeroed, so replacements without end take no more memory.
func TestRingsOfTheNextGeneration(t *testing.T) {
	a := HeapArena(3)
	first := a.Open(Data, 2, 0)
	first.Cells[5].Seq, *first.Head, *first.Credit, *first.WantsRoom = 6, 4, 99, 1
	payload := first.OpenPayload()
	used := len(a.heap.extents)
	for generation := range uint32(100) {
		if generation > 0 {
			stale, err := a.Find(Data, 2, generation)
			require.NoError(t, err)
			require.Nil(t, stale, "of the generation before")
			r := a.Open(Data, 2, generation)
			require.Same(t, &first.Cells[0], &r.Cells[0])
			require.Equal(t, make([]uint64, 4), []uint64{r.Cells[5].Seq, *r.Head, *r.Credit, *r.WantsRoom})
			none, err := r.Payload()
			require.NoError(t, err)
			require.Nil(t, none)
			require.Same(t, &payload[0], &r.OpenPayload()[0])
			r.Cells[5].Seq, *r.Head, *r.Credit, *r.WantsRoom = 6, 4, 99, 1
		}
		r, err := a.Find(Data, 2, generation)
		require.NoError(t, err)
		require.NotNil(t, r)
	}
	assert.Equal(t, used, len(a.heap.extents))
}

// TestSlots: the records of LetGo, and a slot that was vacated.
func TestSlots(t *testing.T) {
	n := FormatNode(Heap(NodeBytes(5)), 5, 1)
	assert.False(t, n.HasLetGo(1, 3), "1 has not come so far")
	n.LetGo(1, 1)
	assert.False(t, n.HasLetGo(1, 3))
	n.AppendDeath(3, Died)
	why, departed := n.Departed(3)
	assert.True(t, departed)
	assert.Equal(t, Died, why)
	n.LetGo(1, 3)
	assert.True(t, n.HasLetGo(1, 3))
	n.SetEnded(3)
	n.SetState(3, Joined)
	n.LetGo(3, 3)
	n.Vacate(3)
	assert.Equal(t, uint32(1), n.Generation(3))
	_, departed = n.Departed(3)
	assert.False(t, departed)
	assert.False(t, n.Ended(3))
	assert.Equal(t, Absent, n.StateOf(3))
	assert.False(t, n.HasLetGo(1, 3), "that was the one before")
	assert.False(t, n.HasLetGo(3, 1), "the new one has not come so far")
	_, _, present := n.Death(0)
	assert.False(t, present, "an entry of the one before")
	n.AppendDeath(3, Retired)
	proc, why, present := n.Death(1)
	assert.Equal(t, []any{3, Retired, true}, []any{proc, why, present})
	n.LetGo(1, 3)
	assert.True(t, n.HasLetGo(1, 3))
}

// TestListOfDeathsGoesRound: the list keeps as many entries as there are slots, after any number of
// deaths.
func TestListOfDeathsGoesRound(t *testing.T) {
	n := FormatNode(Heap(NodeBytes(3)), 3, 1)
	for i := range 100 {
		n.AppendDeath(i%3, uint32(i%2))
		require.Equal(t, i+1, n.Deaths())
		for k := max(0, i-2); k <= i; k++ {
			proc, why, _ := n.Death(k)
			require.Equal(t, []int{k % 3, k % 2}, []int{proc, int(why)})
		}
	}
}
