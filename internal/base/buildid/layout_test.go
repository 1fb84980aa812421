package buildid

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStampOfOtherBuilds: a build is read from messages whose other fields are unknown, absent or
// of another type.
func TestStampOfOtherBuilds(t *testing.T) {
	for text, want := range map[string]Stamp{
		`{"build":7,"rank":3,"future":{"x":[1]}}`: {Build: 7, Rank: 3},
		`{"v":2,"rank":3}`:                        {Rank: 3},
		`{"build":7,"rank":"third","node":2}`:     {Build: 7, Node: 2},
		`{"what":"Hello"}`:                        {},
		`{"build":4294967295,"node":1}`:           {Build: 1<<32 - 1, Node: 1},
	} {
		got, err := Read([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		assert.False(t, got.IsOurs(), text)
	}
	for _, text := range []string{"", "{", "7", `"build"`, "[]", "GET / HTTP/1.0"} {
		_, err := Read([]byte(text))
		assert.Error(t, err, text)
	}
}

// TestCheckRank: the error names the rank and the remedy.
func TestCheckRank(t *testing.T) {
	assert.NoError(t, Stamp{Build: Build, Rank: 1}.CheckRank())
	err := Stamp{Build: Build + 1, Rank: 1}.CheckRank()
	require.ErrorIs(t, err, ErrAnother)
	assert.EqualError(t, err, "rank 1 has another build of goulfm: install the same one on all nodes")
}
