package sparse

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTable: entries begin fresh, stay where they are, and take no memory before.
func TestTable(t *testing.T) {
	table := New(1000, func() int { return 7 })
	assert.Equal(t, 1000, table.Len())
	assert.Nil(t, table.Peek(999))
	e := table.At(999)
	assert.Equal(t, 7, *e)
	*e = 8
	assert.Same(t, e, table.At(999))
	assert.Same(t, e, table.Peek(999))
	assert.Nil(t, table.Peek(16))
	assert.Equal(t, 7, *table.Peek(15), "the first are there")
	assert.Equal(t, 7, *table.At(998), "beside it")
	used := 0
	for _, c := range table.chunks {
		if c != nil {
			used++
		}
	}
	assert.Equal(t, 2, used)
	sum := 0
	table.Each(func(e *int) { sum += *e })
	assert.Equal(t, 8+31*7, sum)
	assert.Panics(t, func() { table.At(1008) })
	few := New(3, func() int { return 7 })
	assert.Same(t, few.At(2), few.Peek(2))
	assert.Panics(t, func() { few.At(16) })
	zero := New[string](3, nil)
	assert.Empty(t, *zero.At(2))
}
