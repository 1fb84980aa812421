package departure

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTally(t *testing.T) {
	var gone Tally
	assert.True(t, gone.IsWhole())
	assert.False(t, gone.GoesOn(0))

	gone.Hear(5, 7)
	gone.Hear(6, 9)
	assert.True(t, gone.IsWhole(), "a notice is no departure")
	gone.Part(6, true)
	assert.True(t, gone.GoesOn(9))
	assert.False(t, gone.GoesOn(10))
	gone.Part(5, true)
	assert.True(t, gone.GoesOn(7), "both took part in it")
	assert.False(t, gone.GoesOn(8))
	assert.EqualValues(t, 7, gone.LastOfAll())
	gone.Part(4, true)
	assert.False(t, gone.GoesOn(1), "a member left without a notice")
	assert.True(t, gone.HasParted())
}

// TestDeathAfterANotice: a process that dies after its notice counts as dead.
func TestDeathAfterANotice(t *testing.T) {
	var gone Tally
	gone.Hear(5, 7)
	gone.Part(5, false)
	assert.False(t, gone.GoesOn(7))
	assert.False(t, gone.HasParted())
	assert.False(t, gone.IsWhole())
}

// TestNumbersRecur: the numbers of collectives have 32 bits, and are compared by their distance.
func TestNumbersRecur(t *testing.T) {
	var gone Tally
	gone.Hear(5, 2)
	gone.Hear(6, 1<<32-2)
	gone.Part(5, true)
	gone.Part(6, true)
	assert.EqualValues(t, 1<<32-2, gone.LastOfAll())
	assert.True(t, gone.GoesOn(1<<32-2))
	assert.False(t, gone.GoesOn(1))
}

func TestEarly(t *testing.T) {
	var early Early
	early.Keep(5, Last{Index: 3, Number: 7})
	early.Keep(6, Last{Index: 3, Number: 8})
	early.Keep(5, Last{Index: 4, Number: 1})
	gone := early.Take(3)
	gone.Part(5, true)
	gone.Part(6, true)
	assert.True(t, gone.GoesOn(7))
	again := early.Take(3)
	again.Part(5, true)
	assert.False(t, again.GoesOn(0), "a notice is taken once")
}

// FuzzRead: any bytes are refused, or stand for a frame that is written and read as the same.
func FuzzRead(f *testing.F) {
	f.Add(Last{Index: 5, Number: 70000}.Frame())
	f.Add([]byte{Kind, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		l, err := Read(frame)
		if err != nil {
			return
		}
		again, err := Read(l.Frame())
		assert.NoError(t, err)
		assert.Equal(t, l, again)
	})
}
