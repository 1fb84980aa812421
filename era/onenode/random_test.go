package onenode

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/era"
)

var runs = flag.Uint64("runs", 200, "random schedules to run")

// TestRandom: larger worlds, single accesses in random order, across the window
// several times. Everything follows from the seed.
func TestRandom(t *testing.T) {
	var stats struct{ decisions, deaths, arbitrated int }
	for seed := range *runs {
		w, err := randomRun(seed)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		stats.decisions += w.decisions()
		stats.deaths += w.dead.Len()
		for slot := range w.ram.slots {
			if uint16(w.ram.words[slot]) > 0 {
				stats.arbitrated++
			}
		}
	}
	t.Logf("%+v", stats)
	if *runs >= 200 && (stats.decisions < 4000 || stats.deaths < 200 || stats.arbitrated < 700) {
		t.Errorf("too tame: %+v", stats)
	}
}

func randomRun(seed uint64) (*world, error) {
	rng := rand.New(rand.NewPCG(seed, 0x0DE))
	s := search{
		cfg:    Config{N: 2 + rng.IntN(7), Window: []int{1, 2, 3, era.Window}[rng.IntN(4)], Tag: uint32(rng.IntN(1 << 20))},
		leaves: rng.IntN(2) == 0,
		plain:  rng.IntN(3) == 0,
		vary:   rng,
	}
	s.agreements = uint64(1 + rng.IntN(3*s.cfg.Window+2))
	if s.cfg.Window == era.Window {
		s.agreements = uint64(20 + rng.IntN(30))
		s.cfg.N = min(s.cfg.N, 3)
	}
	s.deaths = rng.IntN(s.cfg.N)
	w := newWorld(s.cfg, LongMax(s.cfg.N), ValueMax(s.cfg.N))
	for quiet := 0; quiet < 3*s.cfg.N; {
		musts, mays := s.moves(w)
		m, ok := choose(rng, musts, mays)
		if !ok {
			break
		}
		before := w.decisions()
		if err := m.do(w); err != nil {
			return w, fmt.Errorf("%s: %w", m.name, err)
		}
		quiet++
		if len(musts) > 0 || w.decisions() > before {
			quiet = 0
		}
	}
	return w, s.checkEnd(w)
}

// choose prefers progress, and kills a member now and then.
func choose(rng *rand.Rand, musts, mays []move) (move, bool) {
	var looks, deaths []move
	for _, m := range mays {
		if strings.Contains(m.name, "die") {
			deaths = append(deaths, m)
		} else {
			looks = append(looks, m)
		}
	}
	for _, c := range []struct {
		oneIn int
		moves []move
	}{{100, deaths}, {6, looks}, {1, musts}, {1, looks}} {
		if len(c.moves) > 0 && rng.IntN(c.oneIn) == 0 {
			return c.moves[rng.IntN(len(c.moves))], true
		}
	}
	return move{}, false
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
		v.Entries = []era.Entry{{Rank: r, Data: make([]byte, rng.IntN(EntryMax+1))}}
		for i := range v.Entries[0].Data {
			v.Entries[0].Data[i] = byte(rng.Uint32())
		}
	}
	return v
}
