package enginejob

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bodyOf removes the length of an encoded message.
func bodyOf(t testing.TB, b []byte) []byte {
	n, err := lengthOf([prefixBytes]byte(b))
	require.NoError(t, err)
	require.Len(t, b, prefixBytes+n)
	return b[prefixBytes:]
}

// TestMessages: the other side receives each message as it was sent.
func TestMessages(t *testing.T) {
	c := claim{Build: buildid.Build, Key: "slurm/c/1.0.0", Rank: 3, Size: 4, Cores: []uint64{math.MaxUint64, 1},
		Several: &several{Channel: bySecret, Locals: 2, Node: 1, Hosts: []string{"a", "b"}, Secret: "/s"}}
	got, err := decodeClaim(bodyOf(t, encode(c)))
	require.NoError(t, err)
	assert.Equal(t, c, got)
	for _, a := range []answer{{Build: buildid.Build, What: waiting}, {Build: buildid.Build, What: started}, {Build: buildid.Build, What: refused, Why: "x\n", Elsewhere: true},
		{Build: buildid.Build, What: placed, Info: &boot.Info{Job: math.MaxUint64, Rank: 3, Size: 4, Ranks: 4, Cores: 2}}} {
		got, err := decodeAnswer(bodyOf(t, encode(a)))
		require.NoError(t, err)
		assert.Equal(t, a, got)
	}
}

// stamped returns a message with this build in the place of OURS.
func stamped(text string) []byte {
	return []byte(strings.Replace(text, "OURS", fmt.Sprintf(`"build":%d`, buildid.Build), 1))
}

// TestMessagesOfAnotherBuild: a rank, a daemon and a coordinator learn from such a message only
// its rank. Messages of versions without build numbers have none.
func TestMessagesOfAnotherBuild(t *testing.T) {
	for _, build := range []string{`"build":7`, `"v":2`} {
		c, err := decodeClaim([]byte(`{` + build + `,"key":"other","rank":3,"size":"two"}`))
		require.EqualError(t, err, "rank 3 has another build of goulfm: install the same one on all nodes")
		require.ErrorIs(t, err, buildid.ErrAnother)
		assert.Equal(t, claim{Key: "other", Rank: 3}, c)
		_, err = decodeAnswer([]byte(`{` + build + `,"what":7,"why":"versions differ"}`))
		require.ErrorIs(t, err, buildid.ErrAnother)
		in, err := decodeIntroduction([]byte(`{` + build + `,"key":"k","size":{},"host":"n2","ranks":[2,5]}`))
		require.NoError(t, err)
		_, err = newRegister("k", 6).enter(in)
		assert.EqualError(t, err, "rank 2 has another build of goulfm: install the same one on all nodes")
	}
}

// TestBadMessages: no number out of bounds is accepted.
func TestBadMessages(t *testing.T) {
	for _, text := range []string{"", "x", "[]", "{}", `{"v":9}`, `{"v":1,"rank":0,"size":1}`, `{"build":7,"key":["k"],"rank":1}`, `{OURS,"rank":-1,"size":1}`, `{OURS,"rank":1,"size":1}`, `{OURS,"size":1025}`,
		`{OURS,"size":2,"several":{"channel":"x","locals":1}}`, `{OURS,"size":2,"several":{"channel":"munge","locals":3}}`, `{OURS,"cards":{"texts":["a"],"of":[1]}}`, `{OURS,"size":1,"cores":[` + strings.Repeat("1,", wordsMax) + `1]}`} {
		_, err := decodeClaim(stamped(text))
		assert.ErrorIs(t, err, errMessage, text)
	}
	for _, text := range []string{"", `{OURS}`, `{OURS,"what":"else"}`, `{OURS,"what":"placed"}`, `{OURS,"what":"placed","info":{"rank":2,"size":2}}`} {
		_, err := decodeAnswer(stamped(text))
		assert.ErrorIs(t, err, errMessage, text)
	}
	var prefix [prefixBytes]byte
	binary.LittleEndian.PutUint32(prefix[:], messageMax+1)
	_, err := lengthOf(prefix)
	assert.ErrorIs(t, err, errMessage)
}

// FuzzMessages: no input causes a panic, and an accepted message is within bounds.
func FuzzMessages(f *testing.F) {
	f.Add(bodyOf(f, encode(claim{Build: buildid.Build, Key: "k", Size: 2, Cores: []uint64{3}})))
	f.Add(bodyOf(f, encode(answer{Build: buildid.Build, What: placed, Info: &boot.Info{Size: 1}})))
	f.Add(bodyOf(f, encode(claim{Build: buildid.Build, Cards: &cards{Texts: []string{"a", "b"}, Of: []int{0, 1, 0}}})))
	f.Add(stamped(`{OURS,"key":"k","size":4,"node":-1,"host":"n1","ranks":[0,2]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if c, err := decodeClaim(body); err == nil && c.Cards == nil {
			assert.True(t, c.Rank >= 0 && c.Rank < c.Size && (c.Size <= ranksMax || c.Several != nil) && len(c.Cores) <= wordsMax)
		}
		if in, err := decodeIntroduction(body); err == nil {
			_, _ = newRegister("k", 4).enter(in)
		}
		if a, err := decodeAnswer(body); err == nil && a.What == placed {
			assert.True(t, a.Info.Rank >= 0 && a.Info.Rank < a.Info.Size)
		}
	})
}

// TestCores: the node's cores are those that any of its ranks may use.
func TestCores(t *testing.T) {
	all := addMask(nil, []uint64{1})
	all = addMask(all, []uint64{3, 1 << 63})
	all = addMask(all, []uint64{4})
	assert.Equal(t, []uint64{7, 1 << 63}, all)
	assert.Equal(t, 4, countCores(all))
}
