package rankstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faulty is a store at which the process dies: after left stores, in the middle of the next store.
type faulty struct {
	store
	left   int
	part   float64 // fraction of the last store that is made
	stores int
}

var errDead = errors.New("dead")

func (f *faulty) WriteAt(b []byte, off int64) (int, error) {
	if f.left == 0 {
		n := int(f.part * float64(len(b)))
		_, _ = f.store.WriteAt(b[:n], off)
		f.left = -1
	}
	if f.left < 0 {
		return 0, errDead
	}
	f.left--
	f.stores++
	return f.store.WriteAt(b, off)
}

func (f *faulty) Punch(off, n int64) error {
	if f.left < 0 {
		return errDead
	}
	return f.store.Punch(off, n)
}

// TestDiesAtAnyStore ends a process before each of its stores, and in the middle of each: the old
// versions are there, bit for bit, the new version is whole or absent, and a successor can
// continue.
func TestDiesAtAnyStore(t *testing.T) {
	for _, part := range []float64{0, 0.3, 0.9} {
		deaths := 0
		for k := 0; ; k++ {
			m := Heap(2)
			first := owned(t, m)
			require.NoError(t, first.Write(label(1), partsOf(1)))
			require.NoError(t, first.Write(label(2), partsOf(2)))
			require.NoError(t, first.Drop(func(l Label) bool { return l == label(1) })) // so slots and chunks are used again
			require.NoError(t, first.Write(Label{Kind: 1}, partsOf(1)))
			whole := m.store
			m.store = &faulty{store: whole, left: k, part: part}
			err := first.Write(label(3), partsOf(3))
			if err == nil {
				err = first.Drop(func(l Label) bool { return l == label(2) })
			}
			m.store = whole
			if err == nil {
				break
			}
			deaths++
			require.ErrorIs(t, err, errDead)
			checkSurvival(t, m, k)
			if t.Failed() {
				t.Fatalf("dead at store %d, %v of it done", k, part)
			}
		}
		assert.Greater(t, deaths, 8)
	}
}

func checkSurvival(t *testing.T, m *Memory, k int) {
	reader := m.Home(1)
	labels, err := reader.Labels()
	require.NoError(t, err)
	assert.Contains(t, labels, Label{Kind: 1})
	if assert.Subset(t, []Label{label(2), label(3), {Kind: 1}}, labels) && len(labels) == 2 {
		assert.True(t, labels[0] == label(2) || labels[0] == label(3))
	}
	check := func(h *Home, want map[Label]uint64) {
		for l, seed := range want {
			parts, err := h.Read(l)
			require.NoError(t, err)
			assert.Equal(t, partsOf(seed), parts, "%v", l)
		}
	}
	want := map[Label]uint64{}
	for _, l := range labels {
		want[l] = max(1, l.Number)
	}
	check(reader, want)
	m.Release(7)
	next := m.Home(1)
	require.NoError(t, next.Claim(8))
	require.NoError(t, next.Write(label(4), partsOf(uint64(k+10))))
	want[label(4)] = uint64(k + 10)
	check(m.Home(1), want)
}

// TestRandomOwners compares a home with a map, over many owners that die at random stores.
func TestRandomOwners(t *testing.T) {
	seeds := uint64(15)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		for _, m := range memories(t) {
			randomOwners(t, seed, m)
		}
	}
}

func randomOwners(t *testing.T, seed uint64, m *Memory) {
	rng := rand.New(rand.NewPCG(seed, 5))
	whole := map[Label]uint64{}
	store := m.store
	for proc := range 12 {
		m.store = store
		h := m.Home(0)
		require.NoError(t, h.Claim(proc))
		m.store = &faulty{store: store, left: rng.IntN(60), part: rng.Float64()}
		for !live(t, rng, h, whole) {
			continue
		}
		m.store = store
		m.Release(proc)
		compare(t, seed, m.Home(0), whole)
	}
}

// live makes one random call, and reports whether the process died in the call. It updates the map
// of the expected versions.
func live(t *testing.T, rng *rand.Rand, h *Home, whole map[Label]uint64) (dead bool) {
	l, seed := Label{Kind: Kind(rng.IntN(2)), Number: uint64(rng.IntN(5))}, rng.Uint64N(4)
	switch rng.IntN(4) {
	case 0:
		err := h.Drop(func(other Label) bool { return other == l })
		if err != nil {
			return settled(t, h, whole)
		}
		delete(whole, l)
	case 1:
		return h.Punch() != nil
	default:
		if h.Write(l, partsOf(seed)) != nil {
			before := whole[l]
			dead = settled(t, h, whole)
			if now, there := whole[l]; there && now != before {
				assert.Equal(t, seed, now)
			}
			return dead
		}
		whole[l] = seed
	}
	return false
}

// settled adapts the map to the home after a death, where one version may be new or missing.
func settled(t *testing.T, h *Home, whole map[Label]uint64) bool {
	changes := 0
	there := map[Label]uint64{}
	reader := &Home{m: &Memory{store: h.m.store.(*faulty).store, homes: 1}, begin: h.begin}
	labels, err := reader.Labels()
	require.NoError(t, err)
	for _, l := range labels {
		parts, err := reader.Read(l)
		require.NoError(t, err)
		for seed := range uint64(4) {
			if assert.ObjectsAreEqual(partsOf(seed), parts) {
				there[l] = seed
			}
		}
		require.Contains(t, there, l, "%v is none that was written", l)
		if old, was := whole[l]; !was || old != there[l] {
			changes++
		}
	}
	for l := range whole {
		if _, is := there[l]; !is {
			changes++
		}
	}
	assert.LessOrEqual(t, changes, 1)
	clear(whole)
	for l, seed := range there {
		whole[l] = seed
	}
	return true
}

func compare(t *testing.T, seed uint64, h *Home, whole map[Label]uint64) {
	labels, err := h.Labels()
	require.NoError(t, err)
	require.Len(t, labels, len(whole), "seed %d", seed)
	for l, of := range whole {
		parts, err := h.Read(l)
		require.NoError(t, err)
		require.Equal(t, partsOf(of), parts, fmt.Sprint("seed ", seed, " ", l))
	}
}

// TestFlippedBits: each change of a byte of a home is found, unless nothing depends on the byte.
func TestFlippedBits(t *testing.T) {
	m := Heap(2)
	h := owned(t, m)
	want := []Part{{Name: "a", Kind: "k", Elem: 4, Data: []byte("some bytes")}, {Name: "b", Data: []byte("others")}}
	require.NoError(t, h.Write(label(1), want))
	chunks, found := m.store.(*heap).chunks, 0
	require.Len(t, chunks, 4, "the roots, two parts, a table")
	for c := range chunks {
		for i := range 256 {
			for bit := range 8 {
				chunks[c][i] ^= 1 << bit
				labels, err := m.Home(1).Labels()
				require.NoError(t, err)
				assert.Subset(t, []Label{label(1)}, labels, "byte %d of chunk %d", i, c)
				if parts, err := m.Home(1).Read(label(1)); err == nil {
					assert.Equal(t, want, parts, "byte %d of chunk %d", i, c)
				} else {
					found++
				}
				chunks[c][i] ^= 1 << bit
			}
		}
	}
	assert.Greater(t, found, 8*(56+16))
	for c := range chunks { // the owner does not share chunks that have changed
		chunks[c][3] ^= 1
	}
	require.NoError(t, h.Write(label(2), want))
	m.Release(7)
	parts, err := m.Home(1).Read(label(2))
	require.NoError(t, err)
	assert.Equal(t, want, parts)
}

// TestStoreFails: a machine without free memory refuses each store in turn. The old versions are
// there, and the same owner continues once there is memory again.
func TestStoreFails(t *testing.T) {
	failed := 0
	for k := 0; ; k++ {
		m := Heap(2)
		h := owned(t, m)
		require.NoError(t, h.Write(label(1), partsOf(1)))
		f := &faulty{store: m.store, left: k}
		m.store = f
		err := h.Write(label(2), partsOf(2))
		if err == nil {
			break
		}
		failed++
		f.left = 1 << 30
		labels, err := m.Home(1).Labels()
		require.NoError(t, err)
		assert.Equal(t, []Label{label(1)}, labels)
		for n := 3; n < 6; n++ {
			require.NoError(t, h.Write(label(n), partsOf(uint64(n))))
			for _, kept := range []int{1, n} {
				parts, err := m.Home(1).Read(label(kept))
				require.NoError(t, err)
				require.Equal(t, partsOf(uint64(kept)), parts)
			}
		}
	}
	assert.Greater(t, failed, 5)
}
