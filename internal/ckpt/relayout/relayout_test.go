package relayout

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/wire"
)

// TestPageOfTheDoc: the example of the package comment.
func TestPageOfTheDoc(t *testing.T) {
	assert.Equal(t, Dist{{{0, 4}}, {{4, 3}}, {{7, 3}}}, Blocks(10, 3))
	assert.Equal(t, []Move{
		{Start: 0, Count: 4, From: 0, To: 0},
		{Start: 4, Count: 1, From: 1, To: 0, ToOffset: 4},
		{Start: 5, Count: 2, From: 1, To: 1, FromOffset: 1},
		{Start: 7, Count: 3, From: 2, To: 1, ToOffset: 2},
	}, Moves(Blocks(10, 3), Blocks(10, 2)))
}

// TestBlocks: every number of elements over every number of ranks, more ranks than
// elements included.
func TestBlocks(t *testing.T) {
	for total := range 40 {
		for size := 1; size < 20; size++ {
			d := Blocks(total, size)
			require.NoError(t, d.Check(total))
			for r := range size {
				lo, hi := Block(total, size, r)
				require.Equal(t, hi-lo, d.Len(r))
				require.GreaterOrEqual(t, hi-lo, total/size)
				require.LessOrEqual(t, hi-lo, total/size+1)
			}
		}
	}
	lo, hi := Block(math.MaxInt, 3, 2)
	assert.Equal(t, math.MaxInt, hi, "no overflow")
	assert.Equal(t, math.MaxInt/3, hi-lo)
}

// TestEachElementMovesOnce: between random distributions every element moves from its old place to
// its new one, once; the plan is as short as possible.
func TestEachElementMovesOnce(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		total := rng.IntN(60)
		from, to := randomDist(rng, total), randomDist(rng, total)
		require.NoError(t, from.Check(total), "seed %d", seed)
		moves := Moves(from, to)
		got := fill(to, func(int) int { return -1 })
		old := fill(from, func(e int) int { return e })
		for i, m := range moves {
			for k := range m.Count {
				require.Equal(t, m.Start+k, old[m.From][m.FromOffset+k], "seed %d", seed)
				require.Equal(t, -1, got[m.To][m.ToOffset+k], "seed %d: twice", seed)
				got[m.To][m.ToOffset+k] = old[m.From][m.FromOffset+k]
			}
			if i > 0 {
				require.Equal(t, moves[i-1].Start+moves[i-1].Count, m.Start, "seed %d: in order", seed)
			}
			require.Positive(t, m.Count)
		}
		require.Equal(t, fill(to, func(e int) int { return e }), got, "seed %d", seed)
		require.LessOrEqual(t, len(moves), len(from.pieces())+len(to.pieces()), "seed %d", seed)
	}
}

// TestSameDistribution: nothing leaves its rank, and each run is one move.
func TestSameDistribution(t *testing.T) {
	for _, m := range Moves(Blocks(17, 5), Blocks(17, 5)) {
		assert.Equal(t, m.From, m.To)
		assert.Equal(t, m.FromOffset, m.ToOffset)
	}
	assert.Len(t, Moves(Dist{{{0, 2}, {2, 2}}}, Dist{{{0, 1}, {1, 3}}}), 1, "cuts without meaning")
	assert.Empty(t, Moves(Blocks(0, 3), Blocks(0, 2)))
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		d    Dist
		want string
	}{
		{Dist{{{0, 3}}, {{4, 2}}}, "no rank has element 3"},
		{Dist{{{0, 3}}, {{2, 4}}}, "rank 0 and rank 1 have element 2"},
		{Dist{{{0, 3}, {3, 3}}, {{5, 1}}}, "rank 0 and rank 1 have element 5"},
		{Dist{{{1, 5}}}, "no rank has element 0"},
		{Dist{{{0, 5}}}, "no rank has element 5"},
		{Dist{}, "no rank has element 0"},
		{Dist{{{0, 7}}}, "rank 0 has 7 elements from 0 on, of 6"},
		{Dist{{{-1, 7}}}, "rank 0 has 7 elements from -1 on, of 6"},
		{Dist{{{0, 6}, {6, -1}}}, "rank 0 has -1 elements from 6 on, of 6"},
		{Dist{{{0, 6}, {math.MaxInt, math.MaxInt}}}, "of 6"},
	} {
		err := c.d.Check(6)
		require.ErrorIs(t, err, ErrRuns, "%v", c.d)
		assert.ErrorContains(t, err, c.want)
	}
	assert.NoError(t, Dist{{{4, 0}, {0, 6}}, {{9, 0}}}.Check(6), "runs without elements")
}

func TestRunsOnTheWire(t *testing.T) {
	for _, runs := range [][]Run{{}, {{0, 1}}, {{1 << 40, 3}, {7, 0}}} {
		r := wire.NewReader(AppendRuns(nil, runs))
		assert.Equal(t, runs, ReadRuns(r))
		assert.NoError(t, r.Done())
	}
}

// FuzzRuns: foreign bytes neither panic nor allocate more than their length allows, and runs that
// pass Check can be moved.
func FuzzRuns(f *testing.F) {
	f.Add(AppendRuns(nil, []Run{{0, 4}, {4, 3}}), 7)
	f.Add(AppendRuns(nil, []Run{{math.MaxInt, math.MaxInt}}), 7)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, 0)
	f.Add([]byte{0}, -18)
	f.Fuzz(func(t *testing.T, b []byte, total int) {
		r := wire.NewReader(b)
		runs := ReadRuns(r)
		if len(runs) > len(b) {
			t.Fatalf("%d runs of %d bytes", len(runs), len(b))
		}
		d := Dist{runs}
		if r.Done() != nil || d.Check(total) != nil {
			return
		}
		moved := 0
		for _, m := range Moves(d, Blocks(total, 3)) {
			moved += m.Count
		}
		if moved != total {
			t.Fatalf("%d of %d elements moved", moved, total)
		}
	})
}

// fill returns the storage of each rank.
func fill(d Dist, value func(element int) int) [][]int {
	all := make([][]int, len(d))
	for rank, runs := range d {
		for _, r := range runs {
			for e := r.Start; e < r.Start+r.Count; e++ {
				all[rank] = append(all[rank], value(e))
			}
		}
	}
	return all
}

// randomDist cuts the elements anywhere and deals the runs to ranks in any order.
func randomDist(rng *rand.Rand, total int) Dist {
	cuts := []int{0, total}
	for range rng.IntN(12) {
		cuts = append(cuts, rng.IntN(total+1))
	}
	slices.Sort(cuts)
	var runs []Run
	for i := 1; i < len(cuts); i++ {
		runs = append(runs, Run{cuts[i-1], cuts[i] - cuts[i-1]})
	}
	rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	d := make(Dist, 1+rng.IntN(6))
	for _, r := range runs {
		rank := rng.IntN(len(d))
		d[rank] = append(d[rank], r)
	}
	return d
}
