package repair

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

func plain(n, steps int) setup {
	return setup{n: n, steps: steps, spare: 20, perNode: n, every: 1, rollback: -1, fatal: -1, stop: -1, flip: -1}
}

// play runs one schedule and fails the test with its trace if it finds a violation.
func play(t *testing.T, s setup, name string, choices func() func(int) int) *model {
	t.Helper()
	m := newModel(s, choices(), false)
	if m.run() != "" {
		m = newModel(s, choices(), true)
		broken := m.run()
		t.Logf("%s\n%s", name, strings.Join(m.trace[max(0, len(m.trace)-600):], "\n"))
		t.Fatalf("%s: %s", name, broken)
	}
	return m
}

// fromSeed returns random choices.
func fromSeed(seed uint64) func() func(int) int {
	return func() func(int) int { return rand.New(rand.NewPCG(seed, 77)).IntN }
}

// inTurn returns choices that change from one call to the next by stride. With stride 0 the first
// process runs as far as it can, then the next one.
func inTurn(stride int) func() func(int) int {
	return func() func(int) int {
		i := 0
		return func(n int) int {
			i += stride
			return i % n
		}
	}
}

// deviating returns the choices of base, except that choice at is moved by by.
func deviating(base func() func(int) int, at, by int) func() func(int) int {
	return func() func(int) int {
		choose, i := base(), 0
		return func(n int) int {
			c := choose(n)
			if i++; i == at {
				c += by
			}
			return c % n
		}
	}
}

// TestUndisturbed: without deaths all finish in one attempt.
func TestUndisturbed(t *testing.T) {
	for n := 1; n <= 4; n++ {
		m := play(t, plain(n, 4), fmt.Sprint("n=", n), fromSeed(1))
		for _, p := range m.procs {
			require.Equal(t, 1, p.world.hist.attempt)
			require.Equal(t, Label{1, 4}, p.world.hist.last)
		}
	}
}

// TestOneDeath: one process, or its node, dies at each step, under several orders.
func TestOneDeath(t *testing.T) {
	runs := 0
	for _, s := range smallSetups() {
		for stride := range 4 {
			runs += eachDeath(t, s, fmt.Sprint("stride ", stride), inTurn(stride), 1, 1)
		}
	}
	t.Log(runs, "schedules")
}

// long enables half a million schedules, which take a minute and a half.
var long = flag.Bool("long", false, "kill at each pair of steps")

// TestTwoDeaths: two processes die, at each pair of steps; the second may be a replacement. The
// first dies at each second step, among three processes at each thirtieth, unless -long is given;
// at one of eight of these steps if long tests do not run.
func TestTwoDeaths(t *testing.T) {
	runs := 0
	for i, s := range smallSetups() {
		every := longtest.N(16, 2)
		switch {
		case *long:
			every = 1
		case s.n == 3:
			every = longtest.N(240, 30)
		}
		runs += eachDeath(t, s, fmt.Sprint("stride ", i%4), inTurn(i%4), 2, every)
	}
	t.Log(runs, "schedules")
}

// TestOneDeathOneDelay: two processes and one death at each step, in every order that is one choice
// away from a regular one; in one of six of these orders if long tests do not run.
func TestOneDeathOneDelay(t *testing.T) {
	runs := 0
	for stride := range 3 {
		s := plain(2, 1)
		s.progAgree = true
		length := 2 * play(t, s, "undisturbed", inTurn(stride)).steps
		for at := 1; at <= length; at += longtest.N(6, 1) {
			for by := 1; by <= 2; by++ {
				name := fmt.Sprintf("stride %d, choice %d off by %d", stride, at, by)
				runs += eachDeath(t, s, name, deviating(inTurn(stride), at, by), 1, 1)
			}
		}
	}
	t.Log(runs, "schedules")
}

// smallSetups returns programs of two and three ranks.
func smallSetups() []setup {
	var all []setup
	for n := 2; n <= 3; n++ {
		s := plain(n, 4-n)
		s.progAgree = n == 2
		all = append(all, s)
		s.perNode, s.copies = 1, 1
		s.cfg.Layout = func(nodes []int) redundancy.Layout { return redundancy.Partners(nodes, 1) }
		all = append(all, s)
		if n == 3 {
			code := s
			code.cfg.Layout = func(nodes []int) redundancy.Layout { return redundancy.Erasure(nodes, 2, 1) }
			all = append(all, code)
		}
		s.cfg.Shortage, s.spare = ShortageShrink, 0
		all = append(all, s)
	}
	return all
}

// eachDeath plays a setup once for each way in which the given number of victims die, one after the
// other. The first dies at every every-th step.
func eachDeath(t *testing.T, s setup, name string, choices func() func(int) int, deaths, every int) int {
	t.Helper()
	m := play(t, s, fmt.Sprintf("%s, kills %+v", name, s.kills), choices)
	runs := 1
	if deaths == 0 {
		return runs
	}
	from := 0
	if len(s.kills) > 0 {
		from = s.kills[len(s.kills)-1].step
	}
	for step := from; step < m.steps; step += every {
		for victim := range s.n {
			for kind := range min(s.copies, 1) + 1 {
				next := s
				next.kills = append(slices.Clone(s.kills), kill{step, victim, kind == 1})
				runs += eachDeath(t, next, name, choices, deaths-1, 1)
			}
		}
	}
	return runs
}

// TestRandomSchedules: programs with all options under random deaths, in random order.
// REPAIR_ROUNDS is the number of schedules; REPAIR_SEED repeats one.
func TestRandomSchedules(t *testing.T) {
	from, rounds := fromEnv(t, "REPAIR_SEED", 0), fromEnv(t, "REPAIR_ROUNDS", 5000)
	if os.Getenv("REPAIR_SEED") != "" {
		rounds = 1
	}
	endings, seen := map[Ending]int{}, map[string]int{}
	for seed := from; seed < from+rounds; seed++ {
		m := play(t, randomSetup(seed), fmt.Sprintf("REPAIR_SEED=%d", seed), fromSeed(seed))
		for _, p := range m.procs {
			if p.ended != nil {
				endings[p.ended.End]++
			}
		}
		for what, n := range m.seen {
			seen[what] += n
		}
	}
	t.Log(endings, seen)
	if rounds > 1 {
		for e := Done; e <= TooFew; e++ {
			require.Positive(t, endings[e], "no schedule ends with %v", e)
		}
		require.Len(t, seen, 15, "of what a schedule can come past")
	}
}

func fromEnv(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	return n
}

// randomSetup draws a program, a configuration and deaths.
func randomSetup(seed uint64) setup {
	rng := rand.New(rand.NewPCG(seed, 5))
	s := plain(1+rng.IntN(5), 3+rng.IntN(4))
	s.every = 1 + rng.IntN(3)
	s.wants = rng.IntN(2) == 0
	s.progAgree = rng.IntN(2) == 0
	s.cfg.Tries = 20
	s.cfg.Verify = rng.IntN(6) == 0
	nodes := rng.IntN(2) == 0
	if nodes {
		s.perNode = 1 + rng.IntN(2)
		s.copies = 1 + rng.IntN(2)
		k := s.copies
		s.cfg.Layout = func(nodes []int) redundancy.Layout { return redundancy.Partners(nodes, k) }
		if d := rng.IntN(6); d > 0 && d < 4 {
			s.cfg.Layout = func(nodes []int) redundancy.Layout { return redundancy.Erasure(nodes, d, k) }
		}
	}
	s.slow = rng.IntN(4) == 0
	if rng.IntN(4) == 0 {
		s.cfg.Every = 1 + rng.IntN(3)
	}
	switch rng.IntN(9) {
	case 8:
		s.flip = rng.IntN(s.n)
	case 0:
		s.rollback = rng.IntN(s.n)
	case 1:
		s.fatal = rng.IntN(s.n)
	case 2:
		s.stop = rng.IntN(s.n)
	case 3:
		s.spare = rng.IntN(3)
		s.cfg.Shortage = Shortage(rng.IntN(3))
		s.refill = 100 * rng.IntN(4)
	}
	step := 0
	for range rng.IntN(6) {
		step += rng.IntN(120)
		s.kills = append(s.kills, kill{step: step, victim: rng.IntN(8), node: nodes && rng.IntN(2) == 0})
	}
	return s
}
