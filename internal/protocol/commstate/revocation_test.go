package commstate

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRevocationOfATwin: a process decided a shrink with others that are dead now, and revoked its
// result. The others decided the shrink without that process: their result has the same uid, and is
// not revoked.
func TestRevocationOfATwin(t *testing.T) {
	uid := ChildUID(WorldUID(4), KindShrink, 1, 0)
	mine := Group{UID: uid, Procs: []int{0, 1, 2}}
	others := Group{UID: uid, Procs: []int{1, 2}}
	r := uid.RevokedBy(0)
	assert.True(t, r.Meets(mine))
	assert.False(t, r.Meets(others))
	assert.True(t, uid.RevokedBy(2).Meets(others))
	assert.True(t, uid.RevokedBy(1<<16|2).Meets(Group{UID: uid, Procs: []int{1, 1<<16 | 2}}), "of a later generation")
	assert.False(t, r.Meets(Group{UID: WorldUID(4), Procs: []int{0, 1, 2, 3}}))
}
