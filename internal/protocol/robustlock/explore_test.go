package robustlock

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "also the searches that take minutes")

// A search visits every state that a world can reach, each once: every order of single accesses to
// memory, deaths between any two of them, notices of deaths with any delay, and, where programs
// allow it, withdrawals at any moment of a wait.
type search struct {
	programs []string
	deaths   int
	tso      bool // stores reach memory later
	settles  bool // every state is played to its end, not each sixteenth

	seen    map[string]struct{}
	settled int
}

func (s *search) String() string {
	text := fmt.Sprintf("%s,deaths=%d", strings.Join(s.programs, "|"), s.deaths)
	if s.tso {
		text += ",tso"
	}
	return text
}

// run visits every state. An error holds the path to the violation.
func (s *search) run() error {
	s.seen = map[string]struct{}{}
	w := newWorld(s.programs...)
	w.tso = s.tso
	return s.visit(w, nil)
}

func (s *search) visit(w *world, path []string) error {
	key := string(w.key())
	if _, known := s.seen[key]; known {
		return nil
	}
	s.seen[key] = struct{}{}
	moves := s.moves(w)
	if len(s.seen)%16 == 0 || s.settles || len(moves) == 0 {
		s.settled++
		if err := w.clone().settle(); err != nil {
			return fmt.Errorf("%w\nafter: %s", err, strings.Join(path, ", "))
		}
	}
	for _, m := range moves {
		next := w.clone()
		here := append(path[:len(path):len(path)], m.name)
		if err := m.do(next); err != nil {
			return fmt.Errorf("%w\nafter: %s", err, strings.Join(here, ", "))
		}
		if err := s.visit(next, here); err != nil {
			return err
		}
	}
	return nil
}

// move is one possible next event.
type move struct {
	name string
	do   func(w *world) error
}

func (s *search) moves(w *world) (out []move) {
	deaths := 0
	for p := range w.n {
		if w.dead[p] {
			deaths++
		}
	}
	for p := range w.n {
		if len(w.buffer[p]) > 0 {
			out = append(out, move{names.drains[p], func(w *world) error { w.drain(p); return nil }})
		}
		if w.done(p) {
			continue
		}
		if len(w.buffer[p]) == 0 || !w.fences(p) {
			out = append(out, move{names.steps[p], func(w *world) error { return w.step(p) }})
		}
		if w.mayGiveUp(p) {
			out = append(out, move{names.givesUp[p], func(w *world) error { w.giveUp(p); return nil }})
		}
		for q := range w.n {
			if w.dead[q] && !w.told[p][q] && len(w.buffer[q]) == 0 {
				out = append(out, move{names.hears[p][q], func(w *world) error { w.told[p][q] = true; return nil }})
			}
		}
		if deaths < s.deaths {
			out = append(out, move{names.dies[p], func(w *world) error { w.kill(p); return nil }})
		}
	}
	return out
}

// names of moves, made once.
var names = func() (n struct {
	steps, drains, givesUp, dies [procsMax]string
	hears                        [procsMax][procsMax]string
}) {
	for p := range procsMax {
		n.steps[p], n.drains[p] = fmt.Sprintf("%d goes on", p), fmt.Sprintf("a store of %d arrives", p)
		n.givesUp[p], n.dies[p] = fmt.Sprintf("%d gives up", p), fmt.Sprintf("%d dies", p)
		for q := range procsMax {
			n.hears[p][q] = fmt.Sprintf("%d hears of the death of %d", p, q)
		}
	}
	return n
}()

// key encodes everything in which two states can differ.
func (w *world) key() []byte {
	b := make([]byte, 0, 96)
	b = append(b, small(w.word), flags(w.hint, w.broken))
	for p := range w.n {
		l := &w.locks[p]
		b = append(b, byte(w.claims[p])|flags(w.dead[p], w.died[p])<<4, byte(len(w.program[p])), byte(l.phase), byte(l.mode)|byte(l.cursor)<<4,
			small(l.seen), small(l.next), small(l.broken), byte(l.back), flags(w.told[p][0], w.told[p][1], w.told[p][2], w.told[p][3]), byte(len(w.buffer[p])))
		for _, st := range w.buffer[p] {
			b = append(b, st.at, small(st.value))
		}
	}
	return b
}

// small is a W in one byte.
func small(w uint64) byte { return byte(w&0x3f) | byte(w>>62)<<6 }

func flags(of ...bool) (b byte) {
	for i, f := range of {
		if f {
			b |= 1 << i
		}
	}
	return b
}

// TestExhaustive visits small worlds completely.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct {
		search
		long bool
	}{
		{search: search{programs: []string{"XX", "XX"}, deaths: 2}},
		{search: search{programs: []string{"XS", "SX"}, deaths: 2}},
		{search: search{programs: []string{"xX", "XS"}, deaths: 1}},
		{search: search{programs: []string{"X", "MM"}, deaths: 2}},
		{search: search{programs: []string{"XX", "XX"}, deaths: 1, tso: true}},
		{search: search{programs: []string{"XX", "SS"}, deaths: 1, tso: true}},
		{search: search{programs: []string{"xX", "sX"}, deaths: 1, tso: true}},
		{search: search{programs: []string{"X", "X", "X"}, deaths: 1}},
		{search: search{programs: []string{"X", "X", "S"}, deaths: 1}},
		{search: search{programs: []string{"X", "S", "S"}, deaths: 1}},
		{search: search{programs: []string{"x", "X", "S"}, deaths: 1}},
		{search: search{programs: []string{"X", "M", "S"}, deaths: 1}},
		{search: search{programs: []string{"x", "X", "X"}, deaths: 2}},
		{search: search{programs: []string{"X", "m", "X"}, deaths: 1}},
		{search: search{programs: []string{"X", "mM", "S"}, deaths: 1}},
		{search: search{programs: []string{"X", "mX"}, deaths: 2, tso: true}},
		{search: search{programs: []string{"X", "X", "X"}, deaths: 2}},
		{search: search{programs: []string{"XX", "X", "S"}, deaths: 2}, long: true},
		{search: search{programs: []string{"X", "M", "M"}, deaths: 2}, long: true},
		{search: search{programs: []string{"xX", "X", "s"}, deaths: 2}, long: true},
		{search: search{programs: []string{"X", "X", "S"}, deaths: 1, tso: true}, long: true},
		{search: search{programs: []string{"XX", "SX", "XS"}, deaths: 1}, long: true},
		{search: search{programs: []string{"X", "X", "X", "S"}, deaths: 1}, long: true},
		{search: search{programs: []string{"x", "X", "S", "S"}, deaths: 1}, long: true},
	} {
		t.Run(c.String(), func(t *testing.T) {
			// Short is for the race detector, which has nothing to find here: there is one
			// goroutine.
			if (c.long || testing.Short() && len(c.programs) > 2) && !*long {
				t.Skip("takes long: -long")
			}
			err := c.run()
			t.Logf("%d states, %d of them played to their end", len(c.seen), c.settled)
			require.NoError(t, err)
			assert.Greater(t, len(c.seen), 100)
		})
	}
}

// TestEveryStateSettles plays every state of the smallest worlds that reveal an omitted rule to its
// end. Planted bugs are hunted by this test.
func TestEveryStateSettles(t *testing.T) {
	for _, c := range []search{
		{programs: []string{"X", "S"}},
		{programs: []string{"X", "S"}, deaths: 1},
		{programs: []string{"X", "S"}, tso: true},
		{programs: []string{"X", "X"}, deaths: 1},
		{programs: []string{"XX", "S"}},
		{programs: []string{"X", "x", "X"}},
		{programs: []string{"xX", "X", "X"}},
		{programs: []string{"X", "X", "X"}, deaths: 1},
		{programs: []string{"X", "m", "X"}, deaths: 1},
	} {
		t.Run(c.String(), func(t *testing.T) {
			c.settles = true
			require.NoError(t, c.run())
			assert.Greater(t, c.settled, 20)
		})
	}
}
