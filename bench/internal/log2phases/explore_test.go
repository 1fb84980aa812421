package log2phases

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era"
)

var (
	deep = flag.Bool("deep", false, "also the exhaustive searches that take minutes")
	runs = flag.Uint("runs", 2000, "random schedules")
)

// A world is a cluster with a plan: each living member proposes count agreements, and at most
// faults of them die.
type world struct {
	count, faults int
	seen          map[[16]byte]bool
	ends          int
}

// A step is one thing that can happen next.
type step struct {
	name string
	do   func(c *cluster) error
}

// steps returns all that can happen next but deaths.
func (w *world) steps(c *cluster) (out []step) {
	for r, s := range c.members {
		if c.dead.Has(r) {
			continue
		}
		if !s.Waiting() && len(c.flags[r]) < w.count {
			out = append(out, step{fmt.Sprintf("propose %d", r), func(c *cluster) error { return c.propose(r, ^uint64(1<<r), false) }})
		}
		for x := range c.dead.All() {
			if !c.told[r].Has(x) {
				out = append(out, step{fmt.Sprintf("notice %d %d", r, x), func(c *cluster) error { return c.notice(r, x) }})
			}
		}
		for from := range c.n() {
			if c.pending(from, r) {
				out = append(out, step{fmt.Sprintf("deliver %d->%d", from, r), func(c *cluster) error { return c.deliver(from, r) }})
			}
		}
	}
	return out
}

// deaths returns the steps "r dies", for every number of messages that had left it on each of its
// channels.
func (w *world) deaths(c *cluster) (out []step) {
	if c.dead.Len() >= w.faults {
		return nil
	}
	for r := range c.n() {
		if c.dead.Has(r) {
			continue
		}
		for _, keep := range choices(c, r, 0) {
			out = append(out, step{fmt.Sprintf("die %d keep %v", r, keep), func(c *cluster) error { c.die(r, keep); return nil }})
		}
	}
	return out
}

// choices returns every vector of how many messages r -> to survive, from to on.
func choices(c *cluster, r, to int) (out [][]int) {
	if to == c.n() {
		return [][]int{nil}
	}
	for keep := range len(*c.queue(r, to)) + 1 {
		for _, rest := range choices(c, r, to+1) {
			out = append(out, append([]int{keep}, rest...))
		}
	}
	return out
}

// visit visits every state that can be reached from c, once.
func (w *world) visit(c *cluster, path []string) error {
	h := fnv.New128a()
	h.Write([]byte(c.fingerprint()))
	key := [16]byte(h.Sum(nil))
	if w.seen[key] {
		return nil
	}
	w.seen[key] = true
	steps := w.steps(c)
	if len(steps) == 0 {
		w.ends++
		if err := c.checkEnd(w.count); err != nil {
			return fmt.Errorf("%w\nafter: %s", err, strings.Join(path, ", "))
		}
	}
	for _, st := range append(steps, w.deaths(c)...) {
		next := c.clone()
		here := append(path[:len(path):len(path)], st.name)
		if err := st.do(next); err != nil {
			return fmt.Errorf("%w\nafter: %s", err, strings.Join(here, ", "))
		}
		if err := w.visit(next, here); err != nil {
			return err
		}
	}
	return nil
}

// TestExhaustive: small worlds completely, in every order of proposals, deliveries, deaths (in the
// middle of sending, too) and notices.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct {
		n, faults, count int
		deep             bool
	}{
		{n: 2, faults: 1, count: 2},
		{n: 3, faults: 0, count: 2},
		{n: 3, faults: 1, count: 1},
		{n: 3, faults: 2, count: 1},
		{n: 4, faults: 0, count: 1},
		{n: 4, faults: 1, count: 1},
		{n: 3, faults: 1, count: 2, deep: true},
		{n: 3, faults: 2, count: 2, deep: true},
		{n: 4, faults: 2, count: 1, deep: true},
	} {
		t.Run(fmt.Sprintf("n=%d,f=%d,k=%d", c.n, c.faults, c.count), func(t *testing.T) {
			if c.deep && !*deep {
				t.Skip("takes long: -deep")
			}
			w := &world{count: c.count, faults: c.faults, seen: map[[16]byte]bool{}}
			require.NoError(t, w.visit(newCluster(c.n), nil))
			t.Logf("%d states, %d ends", len(w.seen), w.ends)
		})
	}
}

// TestRandom: groups of up to 20 members, several agreements, and any number of deaths at any time.
func TestRandom(t *testing.T) {
	for seed := range uint64(*runs) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 2 + rng.IntN(19)
		w := &world{count: 1 + rng.IntN(4), faults: rng.IntN(n)}
		c := newCluster(n)
		for {
			steps := w.steps(c)
			if len(steps) == 0 {
				break
			}
			if c.dead.Len() < w.faults && rng.IntN(n*w.count) == 0 {
				r := rng.IntN(n)
				keep := make([]int, n)
				for to := range keep {
					keep[to] = rng.IntN(len(*c.queue(r, to)) + 1)
				}
				if !c.dead.Has(r) {
					c.die(r, keep)
				}
				continue
			}
			require.NoError(t, steps[rng.IntN(len(steps))].do(c), "seed %d, n = %d", seed, n)
		}
		require.NoError(t, c.checkEnd(w.count), "seed %d, n = %d", seed, n)
	}
}

// TestMessagesWithoutFailures: an agreement takes n-1 votes and n-1 commits, in at most 2·⌈log2 n⌉
// rounds of messages, for each size up to 100.
func TestMessagesWithoutFailures(t *testing.T) {
	for n := 1; n <= 100; n++ {
		c := newCluster(n)
		for r := range n {
			require.NoError(t, c.propose(r, ^uint64(0), true))
		}
		rounds := 0
		for ; c.inFlight() > 0; rounds++ {
			require.NoError(t, c.round())
		}
		require.NoError(t, c.checkEnd(1))
		require.Equal(t, 2*(n-1), c.sent, "messages among %d", n)
		log := 0
		for 1<<log < n {
			log++
		}
		require.LessOrEqual(t, rounds, 2*log, "rounds among %d", n)
	}
}

func (c *cluster) inFlight() (count int) {
	for _, q := range c.queues {
		count += len(q)
	}
	return count
}

// round delivers the messages that are in flight now.
func (c *cluster) round() error {
	var pairs [][2]int
	for from := range c.n() {
		for to := range c.n() {
			for range len(*c.queue(from, to)) {
				pairs = append(pairs, [2]int{from, to})
			}
		}
	}
	for _, p := range pairs {
		if err := c.deliver(p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}

// TestMalformed: bytes that encode did not write give an anomaly and have no effect.
func TestMalformed(t *testing.T) {
	for _, msg := range [][]byte{nil, {9, 0}, {byte(request), 5}, {byte(request), 0, 1}, {byte(vote), 0}, {byte(vote), 0, 2}} {
		s := NewSeries(Config{N: 3})
		s.Step(era.Propose{Value: era.Value{}})
		before := s.Describe()
		acts := s.Step(era.Receive{From: 1, Seq: 1, Msg: msg})
		require.Len(t, acts, 1, "%v", msg)
		require.IsType(t, era.Anomaly{}, acts[0], "%v", msg)
		require.Equal(t, before, s.Describe(), "%v", msg)
	}
}
