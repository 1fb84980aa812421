package boot

import (
	"fmt"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEnvironments: a process reads the variable that a daemon of its own build has set. From a
// variable of another build the process reads only its own rank.
func TestEnvironments(t *testing.T) {
	_, ok, err := FromEnv()
	require.NoError(t, err)
	assert.False(t, ok)

	info := Info{Job: 1 << 63, Rank: 1, Size: 3, First: 2, Mesh: &Mesh{Slots: []int{3}}}
	t.Setenv(Variable, info.Env()[len(Variable)+1:])
	got, ok, err := FromEnv()
	require.NoError(t, err)
	assert.True(t, ok)
	info.Build = buildid.Build
	assert.Equal(t, info, got)
	_, ok, _ = FromEnv()
	assert.False(t, ok, "it is used once")

	for text, want := range map[string]string{
		`{"build":7,"rank":1,"size":{"of":"another type"}}`: "rank 1 has another build of goulfm: install the same one on all nodes",
		`{"job":5,"rank":2,"size":4,"nodeFd":3}`:            "rank 2 has another build of goulfm: install the same one on all nodes", // from a goulfm version without build numbers
		`{`:                                                 "set by goulfm run, do not set it by hand",
		`1`:                                                 "set by goulfm run, do not set it by hand",
		fmt.Sprintf(`{"build":%d,"rank":1,"size":1}`, buildid.Build): "rank 1 of 1",
	} {
		t.Setenv(Variable, text)
		_, ok, err := FromEnv()
		assert.True(t, ok)
		assert.ErrorContains(t, err, want, text)
	}
}
