package collectives

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKernelNameAndFold(t *testing.T) {
	for want, k := range map[string]Kernel[int]{"sum": Sum[int](), "prod": Prod[int](), "max": Max[int](), "min": Min[int](), "band": BAnd[int](),
		"bor": BOr[int](), "bxor": BXor[int](), "land": LAnd[int](), "lor": LOr[int](), "lxor": LXor[int]()} {
		assert.Equal(t, want, k.Name())
		acc := []int{1}
		assert.False(t, k.Fold(acc, []int{2}))
		assert.Equal(t, []int{1}, acc)
	}
	own := Custom(func(acc, in []int) { acc[0] = 10*acc[0] + in[0] }, false)()
	acc := []int{1}
	assert.True(t, own.Fold(acc, []int{2}))
	assert.Equal(t, "custom", own.Name())
	assert.Equal(t, []int{12}, acc)
}
