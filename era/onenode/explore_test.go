package onenode

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var long = flag.Bool("long", false, "also the exhaustive searches that take minutes")

// A search visits every state that a world can reach, each once: every order of
// single accesses to memory, with every order of calls, deaths at any access, and
// notices that are as late as they like.
type search struct {
	cfg        Config
	agreements uint64     // that each member proposes
	deaths     int        // at most
	leaves     bool       // a death may be one of a process that had left
	plain      bool       // proposals are made plainly where they can be
	oneVictim  bool       // only the last member dies
	noAck      bool       // nobody acknowledges anything
	torn       bool       // planted bug, in the memory
	vary       *rand.Rand // contributions are drawn; nil: they are the same in all searches

	seen  map[[2]uint64]struct{}
	seeds [2]maphash.Seed
	ends  int
}

// move is one thing that can happen next.
type move struct {
	name string
	do   func(w *world) error
}

// run visits all states. An error lists the path to the violation.
func (s *search) run() error {
	s.seen = map[[2]uint64]struct{}{}
	s.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	s.cfg.Tag = 3
	w := newWorld(s.cfg, 40, 56)
	w.ram.tornLines = s.torn
	return s.visit(w, nil)
}

func (s *search) visit(w *world, path []string) error {
	key := s.key(w)
	if _, known := s.seen[key]; known {
		return nil
	}
	s.seen[key] = struct{}{}
	musts, mays := s.moves(w)
	if len(musts) == 0 {
		s.ends++
		if err := s.checkEnd(w.clone()); err != nil {
			return at(path, err)
		}
	}
	for _, m := range append(musts, mays...) {
		next := w.clone()
		here := append(path[:len(path):len(path)], m.name)
		if err := m.do(next); err != nil {
			return at(here, err)
		}
		if err := s.visit(next, here); err != nil {
			return err
		}
	}
	return nil
}

// checkEnd makes all members poll and, where a plain agreement prevented that, propose, until all
// is decided.
func (s *search) checkEnd(w *world) error {
	if err := w.checkEnd(); err != nil && !strings.HasPrefix(err.Error(), "termination") {
		return err
	}
	proposed := false
	for r := range w.n() {
		if !w.dead.Has(r) && w.members[r].Next() <= s.agreements && !w.members[r].plain.open {
			proposed = true
			if err := s.proposals(w, r)[0].do(w); err != nil {
				return err
			}
			if err := w.finish(r); err != nil {
				return err
			}
		}
	}
	if proposed {
		return s.checkEnd(w)
	}
	return w.checkEnd()
}

func at(path []string, err error) error {
	if strings.Contains(err.Error(), "\nafter: ") {
		return err
	}
	return fmt.Errorf("%w\nafter: %s", err, strings.Join(path, ", "))
}

// moves returns the moves that must happen some day, and the optional moves.
func (s *search) moves(w *world) (musts, mays []move) {
	for r := range w.n() {
		switch {
		case w.dead.Has(r):
		case w.running[r] != nil:
			musts = append(musts, move{fmt.Sprintf("%d goes on", r), func(w *world) error { return w.advance(r, 1) }})
		case w.agreed[r].Next(0) >= 0:
			musts = append(musts, move{fmt.Sprintf("%d announces", r), func(w *world) error { return w.announce(r) }})
		default:
			musts = append(musts, s.proposals(w, r)...)
			musts = append(musts, notices(w, r)...)
			mays = append(mays, looks(w, r)...)
		}
		if !w.dead.Has(r) && w.dead.Len() < s.deaths && (!s.oneVictim || r == w.n()-1) {
			mays = append(mays, move{fmt.Sprintf("%d dies", r), func(w *world) error { w.stop(r); return nil }})
			if s.leaves && w.running[r] == nil {
				mays = append(mays, move{fmt.Sprintf("%d leaves and dies", r), func(w *world) error { w.left = with(w.left, r); w.stop(r); return nil }})
			}
		}
	}
	return musts, mays
}

func (s *search) proposals(w *world, r int) []move {
	m := w.members[r]
	if m.Next() > s.agreements || m.plain.open {
		return nil
	}
	claim := era.Claim{Call: plainCall, Rank: r}
	v := era.Value{Flag: ^uint64(1 << r), Lo: claim, Hi: claim}
	if s.vary != nil && !(s.plain && m.Plain()) {
		v = varied(s.vary, r, v)
	}
	if s.plain && m.Plain() {
		return []move{{fmt.Sprintf("%d enters plainly", r), func(w *world) error {
			w.propose(r, v)
			return w.start(r, "enter", func(s *Series) []Action { s.EnterPlain(plainCall, v.Flag); return nil })
		}}}
	}
	out := []move{proposal(r, v)}
	if !m.dead.IsEmpty() && !s.noAck {
		v.Acked = m.dead.Clone()
		out = append(out, proposal(r, v))
	}
	return out
}

func proposal(r int, v era.Value) move {
	name := fmt.Sprintf("propose acked=%v", v.Acked)
	return move{fmt.Sprintf("%d %s", r, name), func(w *world) error {
		w.propose(r, v)
		return w.start(r, name, stepping(Propose{Value: v}))
	}}
}

func notices(w *world, r int) (out []move) {
	for x := range w.dead.All() {
		if !w.told[r].Has(x) {
			out = append(out, move{fmt.Sprintf("%d hears that %d is dead", r, x), func(w *world) error { return w.failed(r, x) }})
		}
		if w.left.Has(x) && !w.told[r].Has(x) && !w.toldLeft[r].Has(x) {
			out = append(out, move{fmt.Sprintf("%d hears that %d has left", r, x), func(w *world) error {
				w.toldLeft[r] = with(w.toldLeft[r], x)
				return w.start(r, fmt.Sprintf("left %d", x), stepping(Left{Rank: x}))
			}})
		}
	}
	return out
}

func looks(w *world, r int) []move {
	s := w.members[r]
	switch {
	case s.Open() == 0:
		return nil
	case s.plain.open:
		return []move{
			{fmt.Sprintf("%d polls", r), func(w *world) error {
				return w.start(r, "poll", func(s *Series) []Action { acts, _ := poll(s); return acts })
			}},
			{fmt.Sprintf("%d adopts", r), func(w *world) error { return w.start(r, "adopt", adopt) }},
		}
	}
	return []move{{fmt.Sprintf("%d looks", r), func(w *world) error { return w.start(r, "look", stepping(Look{})) }}}
}

// key digests all state on which the future and the checks depend.
func (s *search) key(w *world) (k [2]uint64) {
	var b []byte
	for _, word := range w.ram.words {
		b = binary.AppendUvarint(b, word)
	}
	b = wire.AppendSet(wire.AppendSet(b, w.dead), w.left)
	for r, m := range w.members {
		for _, c := range w.history[r] {
			b = wire.AppendSet(wire.AppendSet(b, c.value.Acked), c.dead)
		}
		b = append(b, byte(len(w.history[r])), byte(len(w.results[r])))
		for _, v := range w.results[r] {
			b = wire.AppendSet(wire.AppendSet(wire.AppendSet(b, v.From), v.Dead), v.Acked)
		}
		if w.dead.Has(r) {
			continue
		}
		b = wire.AppendSet(wire.AppendSet(wire.AppendSet(b, w.told[r]), w.toldLeft[r]), w.agreed[r])
		b = m.append(b)
		if now := w.running[r]; now != nil {
			b = wire.AppendBytes(b, []byte(now.name))
			b = append(b, byte(len(now.log)))
			for _, x := range now.log {
				b = binary.AppendUvarint(b, x)
			}
		}
	}
	for i := range k {
		k[i] = maphash.Bytes(s.seeds[i], b)
	}
	return k
}

func (s *Series) append(b []byte) []byte {
	b = append(b, byte(s.entered), byte(s.decided), byte(len(s.queue)))
	for _, v := range s.queue {
		b = wire.AppendSet(b, v.Acked)
	}
	b = wire.AppendSet(wire.AppendSet(b, s.closed), s.dead)
	b = wire.AppendSet(wire.AppendSet(wire.AppendSet(b, s.seen), s.value.Dead), s.value.Acked)
	b = binary.AppendUvarint(b, s.value.Flag)
	b = wire.AppendBool(wire.AppendBool(b, s.plain.open), s.plain.mixed)
	return binary.AppendUvarint(append(b, byte(s.plain.cursor)), s.plain.flag)
}

func (s *search) String() string {
	text := fmt.Sprintf("n=%d,k=%d,f=%d,w=%d", s.cfg.N, s.agreements, s.deaths, s.cfg.Window)
	for _, o := range []struct {
		on   bool
		name string
	}{{s.leaves, "leaves"}, {s.plain, "plain"}, {s.oneVictim, "one victim"}, {s.noAck, "noack"}} {
		if o.on {
			text += "," + o.name
		}
	}
	return text
}

// TestExhaustive: small worlds completely.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct {
		search
		slow     bool // seconds
		long     bool
		skipRace bool // too slow for the race detector, which finds nothing here: there is one goroutine
	}{
		{search: search{cfg: Config{N: 2, Window: 1}, agreements: 3}},
		{search: search{cfg: Config{N: 2, Window: 1}, agreements: 3, plain: true}},
		{search: search{cfg: Config{N: 2, Window: 2}, agreements: 5}, slow: true},
		{search: search{cfg: Config{N: 2, Window: 1}, agreements: 3, deaths: 1, leaves: true}},
		{search: search{cfg: Config{N: 2, Window: 1}, agreements: 3, deaths: 1, plain: true}},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1}, slow: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1, deaths: 1, leaves: true, oneVictim: true, noAck: true}, skipRace: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1, deaths: 1, leaves: true, noAck: true}, long: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1, deaths: 1}, long: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1, deaths: 1, plain: true, noAck: true}, long: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1, deaths: 2, noAck: true}, long: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 2, noAck: true}, long: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1, deaths: 2}, long: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 1, deaths: 2, leaves: true}, long: true},
		{search: search{cfg: Config{N: 2, Window: 2}, agreements: 6, deaths: 1, plain: true}, long: true},
		{search: search{cfg: Config{N: 3, Window: 1}, agreements: 2, deaths: 1, noAck: true}, long: true},
	} {
		t.Run(c.String(), func(t *testing.T) {
			if (c.long || c.skipRace && raceEnabled) && !*long {
				t.Skip("takes long: -long")
			}
			if (c.slow || c.cfg.N > 2 && c.deaths > 0) && !*long {
				longtest.Skip(t, "a million states")
			}
			err := c.run()
			t.Logf("%d states, %d ends", len(c.seen), c.ends)
			if err != nil {
				t.Fatal(err)
			}
			if c.ends == 0 {
				t.Error("no end was reached")
			}
		})
	}
}

// TestTornLines: a line with its number stored before the rest is read half old.
func TestTornLines(t *testing.T) {
	s := search{cfg: Config{N: 2, Window: 1}, agreements: 1, torn: true}
	err := s.run()
	if err == nil || !strings.HasPrefix(err.Error(), "value:") && !strings.HasPrefix(err.Error(), "agreement:") {
		t.Errorf("got %v", err)
	}
	t.Log(err)
}
