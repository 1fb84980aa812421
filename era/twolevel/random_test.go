package twolevel

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

var (
	runs = flag.Uint64("runs", plainRuns, "random schedules to run")
	seed = flag.Uint64("seed", 0, "the first of them")
)

const plainRuns = 1500

// TestRandom: larger groups, on nodes of any size and in any order of ranks, across the
// window several times. checkPart checks A28. Everything follows from the seed.
func TestRandom(t *testing.T) {
	var sum stats
	if raceEnabled && *runs == plainRuns {
		*runs = 200 // there is one goroutine
	}
	for i := range *runs {
		s, err := randomRun(*seed + i)
		require.NoError(t, err, "-seed %d -runs 1", *seed+i)
		sum.add(s)
	}
	t.Logf("%+v", sum)
	if *runs >= plainRuns {
		require.Greater(t, sum.decisions, 50_000, "too tame")
		require.Greater(t, sum.deaths, 1000, "too tame")
		require.Greater(t, sum.heirs, 350, "too tame")
		require.Greater(t, sum.lost, 200, "too tame")
		require.Greater(t, sum.cut, 30, "too tame")
	}
}

type stats struct{ decisions, deaths, heirs, lost, cut int }

func (s *stats) add(o stats) {
	s.decisions += o.decisions
	s.deaths += o.deaths
	s.heirs += o.heirs
	s.lost += o.lost
	s.cut += o.cut
}

// A driver makes random moves.
type driver struct {
	search
	c    *cluster
	rng  *rand.Rand
	rare int // one in so many moves is a death
	sum  stats
}

func randomRun(seed uint64) (stats, error) {
	rng := rand.New(rand.NewPCG(seed, 0x2E))
	n := 2 + rng.IntN(9)
	if rng.IntN(8) == 0 {
		n += rng.IntN(20)
	}
	d := driver{c: newCluster(randomNodes(rng, n), randomParent(rng)), rng: rng, rare: 10 << rng.IntN(5)}
	d.vary = rng
	d.agreements = uint64(1 + rng.IntN(3))
	if rng.IntN(3) == 0 && n <= 10 {
		d.agreements = uint64(era.Window + rng.IntN(3*era.Window))
	}
	d.leaves, d.elsewhere = rng.IntN(2) == 0, rng.IntN(2) == 0
	d.c.overtake = d.agreements < era.Window && rng.IntN(2) == 0
	if rng.IntN(8) == 0 {
		x := rng.IntN(d.c.n())
		d.c.absent, d.c.left = rankset.Of(x), rankset.Of(x)
		d.c.die(x)
	}
	if rng.IntN(5) > 0 {
		d.deaths = rng.IntN(d.c.n())
		d.losses = rng.IntN(2)
	}
	for ended, err := false, error(nil); !ended; {
		if ended, err = d.move(); err != nil {
			return d.sum, err
		}
	}
	for _, results := range d.c.results {
		d.sum.decisions += len(results)
	}
	for r, s := range d.c.members {
		if !d.c.gone(r) && s.leads && s.place > 0 {
			d.sum.heirs++
		}
	}
	return d.sum, d.c.checkEnd()
}

// randomNodes spreads n ranks over nodes, which are in the order of their least ranks.
func randomNodes(rng *rand.Rand, n int) (nodes [][]int) {
	most := 1 + rng.IntN(n)
	at := make([]int, n)
	for r := range n {
		at[r] = rng.IntN(most)
	}
	for r := range n {
		if i := slices.IndexFunc(nodes, func(ranks []int) bool { return at[ranks[0]] == at[r] }); i >= 0 {
			nodes[i] = append(nodes[i], r)
		} else {
			nodes = append(nodes, []int{r})
		}
	}
	return nodes
}

func randomParent(rng *rand.Rand) func(int) int {
	return []func(int) int{nil, parents["chain"], parents["star"]}[rng.IntN(3)]
}

// move makes one move, or kills a member in the middle of the move. The result reports whether
// nothing need happen any more.
func (d *driver) move() (ended bool, err error) {
	musts, mays := d.moves(d.c)
	if len(musts) == 0 {
		return true, nil
	}
	switch {
	case d.rng.IntN(d.rare) == 0 && d.deaths > 0:
		return false, d.stop()
	case d.rng.IntN(3*d.rare) == 0 && d.losses > 0:
		return false, d.lose()
	case len(mays) > 0 && d.rng.IntN(4) == 0:
		musts = mays
	}
	m := musts[d.rng.IntN(len(musts))]
	if d.deaths > 0 && d.rng.IntN(2*d.rare) == 0 {
		died, err := d.c.cut(m.who, 1+d.rng.IntN(3), func() error { return named(m, m.do(d.c)) })
		if died {
			d.deaths--
			d.sum.cut++
		}
		return false, err
	}
	return false, named(m, m.do(d.c))
}

func named(m move, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", m.name, err)
}

// stop lets somebody die, leaders above all.
func (d *driver) stop() error {
	alive := slices.DeleteFunc(rankset.Range(0, d.c.n()).Slice(), d.c.dead.Has)
	if len(alive) == 0 {
		return nil
	}
	r := alive[d.rng.IntN(len(alive))]
	if d.rng.IntN(2) == 0 {
		r = d.c.members[r].leader()
	}
	if d.c.dead.Has(r) {
		return nil
	}
	d.deaths--
	d.sum.deaths++
	d.lossy(r)
	if d.leaves && d.rng.IntN(4) == 0 && !d.c.cutoff.Has(r) {
		d.c.left = with(d.c.left, r)
	}
	d.c.die(r)
	return nil
}

// lossy drops some of the messages of r.
func (d *driver) lossy(r int) {
	for to := range d.c.n() {
		if q := *d.c.queue(r, to); len(q) > 0 {
			d.c.lose(r, to, d.rng.IntN(len(q)+1))
		}
	}
}

// lose loses a node: its members die, or run on for nothing.
func (d *driver) lose() error {
	ranks := d.c.cfg.Nodes[d.rng.IntN(len(d.c.cfg.Nodes))]
	d.losses--
	d.sum.lost++
	if d.rng.IntN(2) == 0 {
		d.c.cutoff = rankset.Of(ranks...)
		d.c.cutoff.Subtract(d.c.dead)
		return nil
	}
	for _, r := range ranks {
		if !d.c.dead.Has(r) {
			d.lossy(r)
			d.c.die(r)
		}
	}
	return nil
}

// varied gives a contribution something of everything.
func varied(rng *rand.Rand, r int, v era.Value) era.Value {
	v.Flag = rng.Uint64()
	if rng.IntN(6) == 0 {
		v.Lo.Call = uint64(rng.IntN(10))
		v.Hi = v.Lo
	}
	if rng.IntN(6) == 0 {
		v.Vetoes.Add(r)
	}
	if rng.IntN(3) == 0 {
		v.Entries = []era.Entry{{Rank: r, Data: make([]byte, rng.IntN(onenode.EntryMax+1))}}
		for i := range v.Entries[0].Data {
			v.Entries[0].Data[i] = byte(rng.Uint32())
		}
	}
	return v
}
