package erasure

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// TestAnyLoss: whichever pieces are lost, as many as there is parity are restored, and one
// more is not.
func TestAnyLoss(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for d := 1; d <= 6; d++ {
		for p := 0; p <= 4; p++ {
			c, err := New(d, p)
			require.NoError(t, err)
			for _, n := range []int{0, 1, 63, 64, 1000} {
				whole := stripe(t, rng, c, n)
				for lost := range uint(1) << (d + p) {
					checkLoss(t, c, whole, lost, n)
				}
			}
		}
	}
}

// stripe returns random data with their parity.
func stripe(t *testing.T, rng *rand.Rand, c *Coder, n int) [][]byte {
	pieces := make([][]byte, c.data+c.parity)
	for i := range pieces {
		pieces[i] = randomBytes(rng, n)
	}
	require.NoError(t, c.Encode(pieces[:c.data], pieces[c.data:]))
	return pieces
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func checkLoss(t *testing.T, c *Coder, whole [][]byte, lost uint, n int) {
	pieces := slices.Clone(whole)
	for i := range pieces {
		if lost>>i&1 == 1 {
			pieces[i] = nil
		}
	}
	err := c.Rebuild(pieces, n)
	if bits.OnesCount(lost) > c.parity {
		require.ErrorIs(t, err, ErrTooFew)
		return
	}
	require.NoError(t, err)
	for i := range whole {
		require.True(t, bytes.Equal(whole[i], pieces[i]), "d=%d p=%d n=%d lost %b: piece %d", c.data, c.parity, n, lost, i)
	}
}

// TestParityIsNeeded: with the same data, other parity gives other data: no piece of the
// parity is idle.
func TestParityIsNeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for p := 1; p <= 3; p++ {
		c, err := New(4, p)
		require.NoError(t, err)
		whole := stripe(t, rng, c, 100)
		for j := range p {
			pieces := slices.Clone(whole)
			pieces[4+j] = slices.Clone(pieces[4+j])
			pieces[4+j][50]++
			for i := range 4 + p { // only this piece of parity is left
				if i == 0 || i >= 4 && i != 4+j {
					pieces[i] = nil
				}
			}
			require.NoError(t, c.Rebuild(pieces, 100))
			require.NotEqual(t, whole[0], pieces[0])
		}
	}
}

// TestAdd: parity that is computed piece by piece, in any order and in parts of a piece, equals
// that of Encode, and so does parity whose data change.
func TestAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for p := range 4 {
		c, err := New(5, p)
		require.NoError(t, err)
		whole := stripe(t, rng, c, 999)
		parity := make([][]byte, p)
		for i := range parity {
			parity[i] = make([]byte, 999)
		}
		for _, j := range rng.Perm(5) {
			for lo := 0; lo < 999; lo += 250 {
				hi := min(lo+250, 999)
				require.NoError(t, c.Add(j, whole[j][lo:hi], cutAll(parity, lo, hi)))
			}
		}
		require.Equal(t, whole[5:], parity)

		now := randomBytes(rng, 999)
		change := make([]byte, 999)
		for i := range change {
			change[i] = now[i] ^ whole[2][i]
		}
		require.NoError(t, c.Add(2, change, parity))
		whole[2] = now
		require.NoError(t, c.Encode(whole[:5], whole[5:]))
		require.Equal(t, whole[5:], parity)
	}
}

func cutAll(pieces [][]byte, lo, hi int) [][]byte {
	out := make([][]byte, len(pieces))
	for i := range pieces {
		out[i] = pieces[i][lo:hi]
	}
	return out
}

func TestShapes(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {1, -1}, {255, 2}} {
		_, err := New(c[0], c[1])
		assert.ErrorIs(t, err, ErrShape, "%v", c)
	}
	_, err := New(254, 2)
	assert.NoError(t, err)
	c, err := New(2, 1)
	require.NoError(t, err)
	two, three := make([]byte, 2), make([]byte, 3)
	assert.ErrorIs(t, c.Encode([][]byte{two, three}, [][]byte{two}), ErrShape)
	assert.ErrorIs(t, c.Encode([][]byte{two}, [][]byte{two}), ErrShape)
	assert.ErrorIs(t, c.Add(2, two, [][]byte{two}), ErrShape)
	assert.ErrorIs(t, c.Add(0, two, [][]byte{three}), ErrShape)
	assert.ErrorIs(t, c.Rebuild([][]byte{two, nil}, 2), ErrShape)
	assert.ErrorIs(t, c.Rebuild([][]byte{two, nil, three}, 2), ErrShape)
}

// TestGroup: the whole path of a group of ranks with data of different lengths, in the stripes of
// internal/ckpt/redundancy. Any members may lose data and parity, as many as there is parity, and
// both are restored.
func TestGroup(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for d := 1; d <= 4; d++ {
		for p := 1; p <= 2; p++ {
			w := newGroup(t, rng, d, p)
			for lost := range uint64(1) << (d + p) {
				if bits.OnesCount64(lost) <= p {
					w.check(t, rankset.FromWords([]uint64{lost}))
				}
			}
		}
	}
}

// group has the data of the members of a redundancy.Group.
type group struct {
	redundancy.Group
	coder   *Coder
	data    map[int][]byte   // of each member
	shares  map[int][][]byte // shares[r] are r's pieces of parity, by stripe; nil where it has none
	partLen int
}

func newGroup(t *testing.T, rng *rand.Rand, d, p int) *group {
	w := &group{data: map[int][]byte{}, shares: map[int][][]byte{}}
	w.Parity = p
	longest := 0
	for r := range d + p {
		w.Members = append(w.Members, r)
		w.data[r] = randomBytes(rng, rng.IntN(300))
		longest = max(longest, len(w.data[r]))
		w.shares[r] = make([][]byte, d+p)
	}
	w.partLen = PartLen(longest, d)
	var err error
	w.coder, err = New(d, p)
	require.NoError(t, err)
	for s := range w.Stripes() {
		st := w.Stripe(s)
		parity := make([][]byte, p)
		for j := range parity {
			parity[j] = make([]byte, w.partLen)
			w.shares[st.Parity[j]][s] = parity[j]
		}
		for j, r := range st.Data {
			piece := make([]byte, w.partLen)
			Cut(piece, w.data[r], j*w.partLen)
			require.NoError(t, w.coder.Add(j, piece, parity))
		}
	}
	return w
}

func (w *group) check(t *testing.T, lost rankset.Set) {
	back := map[int][]byte{}
	for r := range lost.All() {
		back[r] = make([]byte, len(w.data[r]))
	}
	for s := range w.Stripes() {
		st := w.Stripe(s)
		pieces := make([][]byte, len(w.Members))
		for j, r := range st.Data {
			if !lost.Has(r) {
				pieces[j] = make([]byte, w.partLen)
				Cut(pieces[j], w.data[r], j*w.partLen)
			}
		}
		for j, r := range st.Parity {
			if !lost.Has(r) {
				pieces[len(st.Data)+j] = w.shares[r][s]
			}
		}
		require.NoError(t, w.coder.Rebuild(pieces, w.partLen))
		for j, r := range st.Data {
			if lost.Has(r) {
				Paste(back[r], pieces[j], j*w.partLen)
			}
		}
		for j, r := range st.Parity {
			require.Equal(t, w.shares[r][s], pieces[len(st.Data)+j], "lost %v, stripe %d", lost, s)
		}
	}
	for r := range lost.All() {
		require.Equal(t, w.data[r], back[r], "lost %v", lost)
	}
}

func TestCut(t *testing.T) {
	dst := []byte("xxxxx")
	Cut(dst, []byte("0123456789"), 7)
	assert.Equal(t, []byte("789\x00\x00"), dst)
	Cut(dst, []byte("0123456789"), 10)
	assert.Equal(t, make([]byte, 5), dst)
	data := []byte("abcdef")
	Paste(data, []byte("XYZ"), 4)
	Paste(data, []byte("XYZ"), 6)
	assert.Equal(t, "abcdXY", string(data))
	assert.Equal(t, []int{5, 4, 0}, []int{PartLen(13, 3), PartLen(12, 3), PartLen(0, 3)})
}

// BenchmarkEncode measures one core, beside a copy of the same bytes.
func BenchmarkEncode(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, dp := range [][2]int{{8, 1}, {8, 2}, {4, 2}} {
		c, err := New(dp[0], dp[1])
		require.NoError(b, err)
		pieces := make([][]byte, dp[0]+dp[1])
		for i := range pieces {
			pieces[i] = randomBytes(rng, 1<<20)
		}
		b.Run(fmt.Sprintf("%d+%d", dp[0], dp[1]), func(b *testing.B) {
			b.SetBytes(int64(dp[0]) << 20)
			for b.Loop() {
				if err := c.Encode(pieces[:dp[0]], pieces[dp[0]:]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		src, dst := make([]byte, 8<<20), make([]byte, 8<<20)
		b.SetBytes(8 << 20)
		for b.Loop() {
			copy(dst, src)
		}
	})
}
