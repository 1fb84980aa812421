package rankstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memories returns a memory of each kind.
func memories(t *testing.T) map[string]*Memory {
	all := map[string]*Memory{"heap": Heap(4)}
	m, err := Create(4)
	if errors.Is(err, errors.ErrUnsupported) {
		return all
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	all["file"] = m
	return all
}

// owned returns home 1 of a new memory, claimed by process 7.
func owned(t *testing.T, m *Memory) *Home {
	h := m.Home(1)
	require.NoError(t, h.Claim(7))
	return h
}

// partsOf returns parts of all relevant lengths, with different data for each seed.
func partsOf(seed uint64) []Part {
	rng := rand.New(rand.NewPCG(seed, 1))
	long := make([]byte, 3*chunkBytes+17)
	for i := 0; i < len(long); i += 1000 {
		long[i] = byte(rng.Uint32())
	}
	return []Part{
		{Name: "", Kind: "int", Data: []byte{byte(seed)}},
		{Name: "long", Kind: "slice", Elem: 8, Data: long},
		{Name: "nothing", Data: nil},
		{Name: "empty", Data: []byte{}},
		{Name: "whole", Data: long[:chunkBytes]},
	}
}

// label returns the label of version n.
func label(n int) Label { return Label{Epoch: 1, Number: uint64(n)} }

func TestRoundTrip(t *testing.T) {
	for name, m := range memories(t) {
		t.Run(name, func(t *testing.T) {
			h := owned(t, m)
			for n := 1; n <= 3; n++ {
				require.NoError(t, h.Write(label(n), partsOf(uint64(n))))
			}
			require.NoError(t, h.Write(Label{Kind: 1, Number: 9}, nil))
			for _, reader := range []*Home{h, m.Home(1)} { // the owner and a reader
				labels, err := reader.Labels()
				require.NoError(t, err)
				assert.Equal(t, []Label{label(1), label(2), label(3), {Kind: 1, Number: 9}}, labels)
				for n := 1; n <= 3; n++ {
					parts, err := reader.Read(label(n))
					require.NoError(t, err)
					assert.Equal(t, partsOf(uint64(n)), parts)
				}
				parts, err := reader.Read(Label{Kind: 1, Number: 9})
				require.NoError(t, err)
				assert.Empty(t, parts)
				_, err = reader.Read(label(4))
				assert.ErrorIs(t, err, ErrNone)
			}
			labels, err := m.Home(2).Labels()
			require.NoError(t, err)
			assert.Empty(t, labels, "another home")
		})
	}
}

// TestReadInto: parts are read into the caller's memory, and parts without memory are still
// compared with their checksums.
func TestReadInto(t *testing.T) {
	for name, m := range memories(t) {
		t.Run(name, func(t *testing.T) {
			h, parts := owned(t, m), partsOf(1)
			require.NoError(t, h.Write(label(1), parts))
			long, asked := make([]byte, len(parts[1].Data)), map[int]int{}
			room := func(i, n int) []byte {
				if asked[i] = n; i == 1 {
					return long
				}
				return nil
			}
			got, err := h.ReadInto(label(1), room)
			require.NoError(t, err)
			assert.Equal(t, map[int]int{0: 1, 1: len(long), 3: 0, 4: chunkBytes}, asked, "nobody is asked for what is nil")
			assert.Equal(t, parts[1].Data, long)
			assert.Nil(t, got[4].Data)
			last := h.live[0].table[4].chunks[0].number
			require.NoError(t, m.put([]byte{parts[4].Data[9] + 1}, h.at(int(last))+9))
			_, err = h.ReadInto(label(1), room)
			require.ErrorIs(t, err, ErrTorn)
		})
	}
}

// TestTwoRanks: a home may have one version of two ranks, each under its own label.
func TestTwoRanks(t *testing.T) {
	for name, m := range memories(t) {
		t.Run(name, func(t *testing.T) {
			h, of := owned(t, m), []Label{{Kind: 1, Epoch: 2, Number: 3}, {Kind: 1, Epoch: 2, Number: 3, Rank: 1 << 20}}
			for i, l := range of {
				require.NoError(t, h.Write(l, partsOf(uint64(i+1))))
			}
			labels, err := m.Home(1).Labels()
			require.NoError(t, err)
			assert.Equal(t, of, labels)
			for i, l := range of {
				parts, err := m.Home(1).Read(l)
				require.NoError(t, err)
				assert.Equal(t, partsOf(uint64(i+1)), parts)
			}
			require.NoError(t, h.Drop(func(l Label) bool { return l == of[0] }))
			labels, err = m.Home(1).Labels()
			require.NoError(t, err)
			assert.Equal(t, of[1:], labels)
		})
	}
}

// TestOneLabelTwice: the later version counts.
func TestOneLabelTwice(t *testing.T) {
	m := Heap(2)
	h := owned(t, m)
	require.NoError(t, h.Write(label(1), partsOf(1)))
	require.NoError(t, h.Write(label(1), partsOf(2)))
	labels, err := m.Home(1).Labels()
	require.NoError(t, err)
	assert.Equal(t, []Label{label(1)}, labels)
	parts, err := m.Home(1).Read(label(1))
	require.NoError(t, err)
	assert.Equal(t, partsOf(2), parts)
}

// TestOwner: a home has one owner, and the next owner only when the daemon has reaped the first.
func TestOwner(t *testing.T) {
	for name, m := range memories(t) {
		t.Run(name, func(t *testing.T) {
			h, next := owned(t, m), m.Home(1)
			require.NoError(t, h.Claim(7), "again")
			assert.ErrorIs(t, next.Claim(8), ErrOwned)
			assert.ErrorIs(t, next.Write(label(1), nil), ErrOwned)
			assert.ErrorIs(t, next.Drop(func(Label) bool { return true }), ErrOwned)
			assert.ErrorIs(t, next.Punch(), ErrOwned)
			m.Release(8)
			assert.ErrorIs(t, next.Claim(8), ErrOwned, "another one was reaped")
			require.NoError(t, h.Write(label(1), partsOf(1)))
			m.Release(7)
			require.NoError(t, next.Claim(8))
			require.NoError(t, next.Write(label(2), partsOf(2)))
			parts, err := m.Home(1).Read(label(1))
			require.NoError(t, err)
			assert.Equal(t, partsOf(1), parts)
			require.NoError(t, m.Home(0).Claim(0))
			next.Yield()
			assert.ErrorIs(t, next.Write(label(3), nil), ErrOwned)
			require.NoError(t, m.Home(1).Claim(9))
			assert.Nil(t, m.Home(4))
		})
	}
}

// taken returns the memory that m takes.
func taken(t *testing.T, m *Memory) int64 {
	n, err := m.Taken()
	require.NoError(t, err)
	return n
}

// TestSharedChunks: a version takes memory only for its changed chunks and its table.
func TestSharedChunks(t *testing.T) {
	for name, m := range memories(t) {
		t.Run(name, func(t *testing.T) {
			h, data := owned(t, m), make([]byte, 100*chunkBytes)
			require.NoError(t, h.Write(label(1), []Part{{Data: data}}))
			one := taken(t, m)
			assert.GreaterOrEqual(t, one, int64(100*chunkBytes))
			data[50*chunkBytes+1]++
			require.NoError(t, h.Write(label(2), []Part{{Data: data}}))
			assert.LessOrEqual(t, taken(t, m)-one, int64(2*chunkBytes))
			parts, err := h.Read(label(2))
			require.NoError(t, err)
			assert.Equal(t, data, parts[0].Data)
			require.NoError(t, h.Drop(func(l Label) bool { return l == label(1) }))
			require.NoError(t, h.Write(label(3), []Part{{Data: data[:10*chunkBytes]}}))
			parts, err = m.Home(1).Read(label(2))
			require.NoError(t, err)
			assert.Equal(t, data, parts[0].Data, "what the first version shared is there")
		})
	}
}

// TestSameChecksum: different chunks with equal checksums are not shared.
func TestSameChecksum(t *testing.T) {
	for name, m := range memories(t) {
		t.Run(name, func(t *testing.T) {
			h, data := owned(t, m), make([]byte, chunkBytes)
			require.NoError(t, h.Write(label(1), []Part{{Data: data}}))
			before := checksum(data)
			binary.LittleEndian.PutUint64(data[100:], 1|crc32.Castagnoli<<1) // the divisor, which leaves no remainder
			require.Equal(t, before, checksum(data))
			require.NoError(t, h.Write(label(2), []Part{{Data: data}}))
			parts, err := m.Home(1).Read(label(2))
			require.NoError(t, err)
			assert.Equal(t, data, parts[0].Data)
		})
	}
}

// TestPunch: Punch frees chunks that are free at two calls. A successor's Claim frees all free
// chunks at once, and Clear frees the whole home.
func TestPunch(t *testing.T) {
	for name, m := range memories(t) {
		t.Run(name, func(t *testing.T) {
			empty := taken(t, m)
			h, data := owned(t, m), make([]byte, 50*chunkBytes)
			require.NoError(t, h.Write(label(1), []Part{{Data: data}}))
			require.NoError(t, h.Write(label(2), nil))
			require.NoError(t, h.Punch())
			full := taken(t, m)
			require.NoError(t, h.Drop(func(l Label) bool { return l == label(1) }))
			require.NoError(t, h.Punch())
			assert.Equal(t, full, taken(t, m), "it may be wanted at once")
			require.NoError(t, h.Punch())
			assert.LessOrEqual(t, taken(t, m)-empty, int64(3*chunkBytes))

			require.NoError(t, h.Write(label(3), []Part{{Data: data}}))
			require.NoError(t, h.Drop(func(l Label) bool { return l == label(3) }))
			m.Release(7)
			h = m.Home(1)
			require.NoError(t, h.Claim(8))
			assert.LessOrEqual(t, taken(t, m)-empty, int64(3*chunkBytes))
			labels, err := h.Labels()
			require.NoError(t, err)
			assert.Equal(t, []Label{label(2)}, labels)

			require.NoError(t, h.Clear())
			assert.LessOrEqual(t, taken(t, m)-empty, int64(chunkBytes), "the roots")
		})
	}
}

// TestNoRoom: a version that does not fit is refused with an error that states sizes, and nothing
// is stored.
func TestNoRoom(t *testing.T) {
	m := Heap(2)
	h := owned(t, m)
	h.SetMax(5 * chunkBytes)
	require.NoError(t, h.Write(label(1), []Part{{Data: make([]byte, 2*chunkBytes)}}))
	f := &faulty{store: m.store, left: 1 << 30}
	m.store = f
	err := h.Write(label(2), []Part{{Data: append([]byte{1}, make([]byte, 3*chunkBytes)...)}})
	assert.ErrorIs(t, err, ErrNoRoom)
	assert.ErrorContains(t, err, fmt.Sprintf("%d bytes more in home 1, where %d of %d", 4*chunkBytes, 3*chunkBytes, 5*chunkBytes), "a chunk of zeros is shared")
	h.SetMax(0)
	assert.ErrorIs(t, h.Write(label(3), make([]Part, PartsMax+1)), ErrNoRoom)
	assert.Error(t, h.Write(label(3), []Part{{Name: "a"}, {Name: "a"}}))
	assert.Zero(t, f.stores)
	for n := 2; n <= RootsMax; n++ {
		require.NoError(t, h.Write(label(n), nil))
	}
	assert.ErrorIs(t, h.Write(label(99), nil), ErrNoRoom)
}
