package collectives

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOpNameAndFunc(t *testing.T) {
	for want, op := range map[string]Op[int]{"sum": Sum[int], "prod": Prod[int], "max": Max[int], "min": Min[int], "band": BAnd[int],
		"bor": BOr[int], "bxor": BXor[int], "land": LAnd[int], "lor": LOr[int], "lxor": LXor[int], "none": nil} {
		assert.Equal(t, want, op.String())
		assert.Nil(t, op.Func())
	}
	own := Custom(func(acc, in []int) { acc[0] = 10*acc[0] + in[0] }, false)
	acc := []int{1}
	own.Func()(acc, []int{2})
	assert.Equal(t, "custom", own.String())
	assert.Equal(t, []int{12}, acc)
	var replace Op[int] = Replace
	replace.Func()(acc, []int{3})
	assert.Equal(t, []int{3}, acc)
}
