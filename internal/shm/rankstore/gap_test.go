package rankstore

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

func TestFirstGap(t *testing.T) {
	s := rankset.Of(1, 2, 5, 64, 65, 130)
	for _, c := range []struct{ n, from, want int }{{1, 1, 3}, {2, 1, 3}, {3, 1, 6}, {58, 1, 6}, {59, 1, 66}, {64, 1, 66}, {65, 1, 131}, {1, 5, 6}, {1, 64, 66}, {2, 129, 131}} {
		assert.Equal(t, c.want, firstGap(s, c.n, c.from), "%+v", c)
	}
	s = rankset.Range(0, chunksMax-2)
	assert.Equal(t, chunksMax-2, firstGap(s, 2, 1))
	assert.Equal(t, -1, firstGap(s, 3, 1))
	s.Add(chunksMax - 1)
	assert.Equal(t, chunksMax-2, firstGap(s, 1, 1))
	assert.Equal(t, -1, firstGap(s, 2, 1))
	s.Add(chunksMax - 2)
	assert.Equal(t, -1, firstGap(s, 1, 1))
}
