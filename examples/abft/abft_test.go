package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/recovery"
)

// A trial is a small product and the record of its ranks.
type trial struct {
	spoil func(rank, size, step int, c []int64)

	mu    sync.Mutex
	text  bytes.Buffer
	times map[[2]int]int // how often a rank has done a step
}

func (r *trial) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *trial) did(rank, size, step int, c []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times[[2]int{rank, step}]++
	r.spoil(rank, size, step, c)
}

// run returns the result line, which may have been printed more than once. There is one process
// value for each process of the job; it outlives the attempts.
func (r *trial) run(t *testing.T, j commtest.Job) string {
	t.Helper()
	r.times = map[[2]int]int{}
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		p := &process{n: 7, steps: 4, out: r, spoil: r.did}
		return recovery.Run(ctx, w, recovery.Config{Log: slog.New(slog.DiscardHandler)}, p.run)
	})
	lines := regexp.MustCompile("(?m)^result: .*$").FindAllString(r.text.String(), -1)
	lines = slices.Compact(lines)
	assert.Len(t, lines, 1)
	return strings.Join(lines, "\n")
}

// again returns the ranks that have done some step twice.
func (r *trial) again() (ranks []int) {
	for at, n := range r.times {
		if n > 1 && !slices.Contains(ranks, at[0]) {
			ranks = append(ranks, at[0])
		}
	}
	slices.Sort(ranks)
	return ranks
}

// TestEachDeath: the product is the same after the death of any rank at any point, while a bit
// flips in each step. The product is also the same if a second rank dies while a block is rebuilt.
func TestEachDeath(t *testing.T) {
	try := func(j commtest.Job) string { return (&trial{spoil: flipEach(1)}).run(t, j) }
	want := try(commtest.Job{N: 2})
	assert.Regexp(t, "^result: n=7 residual=0 ", want)
	commtest.EachKill(t, commtest.Job{N: 4}, func(j commtest.Job) string {
		got := try(j)
		assert.Equal(t, want, got)
		return got
	})
	commtest.EachKill(t, commtest.Job{N: 3, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 3}}}, try)
}

// TestOneBlockIsNotComputedAgain: one lost block, of any rank, is rebuilt from checksums. If a
// second block is lost before the first one is rebuilt, the two ranks repeat their steps, and no
// other rank does.
func TestOneBlockIsNotComputedAgain(t *testing.T) {
	for rank := range 4 {
		r := &trial{spoil: flipEach(0)}
		r.run(t, commtest.Job{N: 4, Kills: []commtest.Killed{{Rank: rank, Mark: "step", At: 3}}})
		assert.Empty(t, r.again(), rank)
		assert.Contains(t, r.text.String(), fmt.Sprintf("rank %d: block from checksums", rank))
	}
	r := &trial{spoil: flipEach(0)}
	r.run(t, commtest.Job{N: 4, Kills: []commtest.Killed{{Rank: 1, Mark: "step", At: 4}, {Rank: 2, Mark: "rebuild", At: 1}}})
	assert.Equal(t, []int{1, 2}, r.again())
	assert.NotContains(t, r.text.String(), "block from checksums")
}

// TestTwoErrors: a block with more than one wrong entry is lost, and is rebuilt from the others
// although no rank has died.
func TestTwoErrors(t *testing.T) {
	var once sync.Once
	r := &trial{spoil: func(rank, size, step int, c []int64) {
		if rank == 1 && step == 2 {
			once.Do(func() { c[0], c[len(c)-1] = c[0]^1, c[len(c)-1]^1 })
		}
	}}
	want := (&trial{spoil: flipEach(0)}).run(t, commtest.Job{N: 4})
	assert.Equal(t, want, r.run(t, commtest.Job{N: 4}))
	assert.Contains(t, r.text.String(), "rank 1: block from checksums")
}

// TestMend: one flipped bit in any entry, also in a sum, is found and corrected; two wrong entries
// are detected.
func TestMend(t *testing.T) {
	p := &process{n: 5, columns: columns(5, 0, 3)}
	b, panel := newBlock(p.n, len(p.columns)-1), make([]int64, (p.n+1)*p.n)
	p.fillPanel(panel, 0, p.n)
	b.add(panel, p.makeB())
	assert.Equal(t, product(5, 4, 1), b.row(4)[1])
	right := slices.Clone(b.v)
	i, _, err := b.mend()
	assert.NoError(t, err)
	assert.Equal(t, -1, i)
	for at := range b.v {
		for bit := range 64 {
			b.v[at] ^= 1 << bit
			i, j, err := b.mend()
			assert.NoError(t, err)
			assert.Equal(t, at, i*b.cols+j)
			assert.Equal(t, right, b.v)
		}
	}
	for other := 1; other < len(b.v); other++ {
		b.v[0], b.v[other] = b.v[0]+1, b.v[other]+2
		_, _, err := b.mend()
		assert.ErrorIs(t, err, errSpoiled)
		copy(b.v, right)
	}
}

// TestColumns: each column is in one block and in that of the checksums, and blocks are of one
// width, also where there are more ranks than columns.
func TestColumns(t *testing.T) {
	for n := 1; n < 9; n++ {
		for size := 2; size < 12; size++ {
			count := make([]int, n)
			for rank := range size {
				of := columns(n, rank, size)
				assert.Len(t, of, (n+size-2)/(size-1)+1)
				for _, j := range of[len(of)-1] {
					count[j]++
				}
			}
			assert.Equal(t, slices.Repeat([]int{2}, n), count, "%d columns, %d ranks", n, size)
		}
	}
}
