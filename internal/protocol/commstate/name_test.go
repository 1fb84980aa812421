package commstate

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNames(t *testing.T) {
	world := NameOf("world")
	split := world.Child(KindSplit)
	assert.Equal(t, "split of world", split.String())
	again := world.Child(KindSplit)
	assert.Equal(t, "split#2 of world", again.String())
	dup := again.Child(KindDup)
	assert.Equal(t, "dup of split#2", dup.String(), "two labels at any depth")

	repaired := world.Child(KindShrink)
	assert.Equal(t, "world#1", repaired.String())
	replaced := repaired.Child(KindReplace)
	assert.Equal(t, "world#2", replaced.String(), "repairs are counted alike")
	base, times := replaced.Repairs()
	assert.Equal(t, "world", base)
	assert.Equal(t, 2, times)
	base, times = again.Repairs()
	assert.Equal(t, "split#2 of world", base)
	assert.Zero(t, times)

	shrunk := dup.Child(KindShrink)
	assert.Equal(t, "dup of split#2#1", shrunk.String())
	child := shrunk.Child(KindDup)
	assert.Equal(t, "dup of dup#1", child.String())
}

// TestRepairedName: a process that joins after repairs has the same name as the others.
func TestRepairedName(t *testing.T) {
	world := NameOf("world")
	once := world.Child(KindReplace)
	twice := once.Child(KindShrink)
	joined := RepairedName("world", 2)
	assert.Equal(t, twice.String(), joined.String())
	theirs, ours := twice.Child(KindDup), joined.Child(KindDup)
	assert.Equal(t, theirs.String(), ours.String())
	fresh := RepairedName("world", 0)
	assert.Equal(t, "world", fresh.String())
	base, times := joined.Repairs()
	assert.Equal(t, "world", base)
	assert.Equal(t, 2, times)
}
