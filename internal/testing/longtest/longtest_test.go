package longtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

func TestTheVariableDecides(t *testing.T) {
	for value, on := range map[string]bool{"": false, "0": false, "1": true} {
		t.Run(value, func(t *testing.T) {
			t.Setenv(longtest.Variable, value)
			assert.Equal(t, on, longtest.On())
			assert.Equal(t, map[bool]int{false: 2, true: 300}[on], longtest.N(2, 300))
			rows := 0
			for i := range 7 {
				if longtest.Row(i, 3) {
					rows++
				}
			}
			assert.Equal(t, map[bool]int{false: 3, true: 7}[on], rows)
			var skipped bool
			t.Run("skip", func(t *testing.T) {
				defer func() { skipped = t.Skipped() }()
				longtest.Skip(t, "takes long")
			})
			assert.Equal(t, !on, skipped)
		})
	}
}
