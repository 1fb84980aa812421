package inquiry

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// TestTimesOfQuestions: a wait asks after a quarter of a second, then at doubled intervals.
func TestTimesOfQuestions(t *testing.T) {
	var q Inquiry
	now := mono.Time(1000)
	assert.False(t, q.IsDue(now))
	for _, after := range []mono.Duration{First, 2 * First, 4 * First, 8 * First, Most, Most} {
		assert.False(t, q.IsDue(now.Add(after-1)))
		now = now.Add(after)
		assert.True(t, q.IsDue(now))
	}
}

func TestAllHaveAnswered(t *testing.T) {
	var q Inquiry
	assert.False(t, q.Answered(3, []int{2, 3}))
	assert.True(t, q.Answered(2, []int{2, 3}))
	assert.True(t, q.Answered(2, []int{2}))
	assert.False(t, q.Answered(2, []int{1, 2}))
}
