package sparse

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPages(t *testing.T) {
	var p Pages[int]
	assert.Nil(t, p.At(0))
	assert.Nil(t, p.At(1<<32-1))
	values := make([]int, 200)
	for i := range values {
		p.Put(uint32(i), &values[i])
	}
	for i := range values {
		assert.Same(t, &values[i], p.At(uint32(i)))
	}
	assert.Nil(t, p.At(200), "on a page that is there")
	for i := range 128 {
		p.Forget(uint32(i))
	}
	assert.Nil(t, p.pages[0])
	assert.Nil(t, p.pages[1])
	assert.Nil(t, p.At(127))
	assert.Same(t, &values[128], p.At(128))
}
