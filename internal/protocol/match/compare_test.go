package match

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

var long = flag.Bool("long", false, "run the comparisons in full")

// A twin does every op on the Matcher and on the dumb version. It compares their events, their
// remaining state, and the Matcher's own invariants.
type twin struct {
	real *real
	dumb *dumb
}

func newTwin() *twin { return &twin{newReal(), newDumb()} }

func (w *twin) do(o op) ([]event, error) {
	got, want := w.real.do(o), w.dumb.do(o)
	if !slices.Equal(got, want) {
		return nil, fmt.Errorf("%+v: %v, the dumb version %v", o, got, want)
	}
	if m, d := w.real.m.State(o.ctx), w.dumb.spaces[o.ctx].state; m != d {
		return nil, fmt.Errorf("%+v: state %v, the dumb version %v", o, m, d)
	}
	return got, nil
}

// compare compares the whole state of both.
func (w *twin) compare() error {
	if err := w.real.m.check(); err != nil {
		return err
	}
	var left []int
	w.real.m.Each(func(r *Recv) { left = append(left, int(r.Slot)) })
	var want []int
	for _, r := range w.dumb.posted {
		want = append(want, r.id)
	}
	slices.Sort(left)
	if slices.Sort(want); !slices.Equal(left, want) {
		return fmt.Errorf("posted %v, the dumb version %v", left, want)
	}
	rm, rb := w.real.m.Buffered()
	if dm, db := w.dumb.buffered(); rm != dm || rb != db {
		return fmt.Errorf("%d messages of %d bytes, the dumb version %d of %d", rm, rb, dm, db)
	}
	return nil
}

// An opReader turns bytes into ops: the fuzzer's and the random test's input.
type opReader struct {
	next  func() byte
	low   uint32 // contexts in use are low .. low+3
	count int    // ids given out
}

// op returns the next op; its frequencies keep queues short but not empty.
func (g *opReader) op() op {
	g.count++
	o := op{id: g.count, ctx: g.low + uint32(g.next()&3)}
	o.src, o.tag = int(g.next()&3), int(g.next()&3) // rank 3 exists in a context of 4 members only
	o.members, o.all = 3+int(g.next()&1), g.next()&7 == 0
	switch v := g.next() & 63; {
	case v < 22:
		o.verb, o.announced, o.size = arrive, g.next()&3 == 0, int(g.next())
	case v < 44:
		o.verb, o.src, o.tag = post, wild(o.src%3, g.next()), wild(o.tag, g.next())
	case v < 48:
		o.verb, o.id = withdraw, g.count-int(g.next()&15)
	case v < 50:
		o.verb, o.src, o.tag = probe, wild(o.src%3, g.next()), wild(o.tag, g.next())
	case v < 52:
		o.verb, o.src, o.tag = mprobe, wild(o.src%3, g.next()), wild(o.tag, g.next())
	case v < 54:
		o.verb, o.src, o.blocking = fail, o.src%3, g.next()&1 == 0
	case v < 55:
		o.verb, o.id = recall, g.count-int(g.next()&15)
	case v < 58:
		o.verb = reserve
	case v < 62:
		o.verb = open
	case g.next()&3 != 0: // ends are rare, so that queues grow
		o.verb = open
	case v < 63:
		o.verb = revoke
	default:
		o.verb, g.low = free, g.low+1
		o.ctx = g.low - 1
	}
	return o
}

// wild makes every fourth choice a wildcard.
func wild(choice int, b byte) int {
	if b&3 == 0 {
		return Any
	}
	return choice
}

// TestAgainstDumb compares the Matcher with the dumb version on random ops, and logs the number of
// events of each kind, so that a lopsided generator is noticed.
func TestAgainstDumb(t *testing.T) {
	ops, seeds := 60_000, uint64(4)
	if *long {
		ops, seeds = 1_000_000, 10
	}
	seen := map[what]int{}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 54))
		g := opReader{next: func() byte { return byte(rng.Uint32()) }}
		w := newTwin()
		w.real.m.long = []int{longQueue, 0, 1, 4}[seed%4]
		for i := range ops {
			events, err := w.do(g.op())
			if err == nil && i%16 == 0 {
				err = w.compare()
			}
			if err != nil {
				t.Fatalf("seed %d, op %d: %v", seed, i, err)
			}
			for _, ev := range events {
				seen[ev.what]++
			}
		}
	}
	t.Logf("%d ops: %v", uint64(ops)*seeds, seen)
	for _, k := range []what{queuedRecv, gotMessage, gotRecv, kept, refused, ended, isPending, droppedMsg, found, nothing, withdrawn, tooLate, notPossible} {
		if seen[k] < 100 {
			t.Errorf("%q happened %d times only", k, seen[k])
		}
	}
}

// FuzzOps compares the Matcher with the dumb version on the input of the fuzzer.
func FuzzOps(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 58, 0, 0, 1, 0, 0, 44, 1, 1})
	rng := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{100, 400} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		g := opReader{next: func() byte {
			if len(in) == 0 {
				return 0
			}
			b := in[0]
			in = in[1:]
			return b
		}}
		w := newTwin()
		w.real.m.long = []int{0, 3, longQueue}[len(in)%3]
		for ctx := range uint32(3) { // one context stays Absent
			mustDo(t, w, op{verb: open, ctx: ctx, members: 3 + int(ctx)%2, all: ctx == 2})
		}
		for len(in) > 0 && g.count < 500 {
			mustDo(t, w, g.op())
		}
		if err := w.compare(); err != nil {
			t.Fatal(err)
		}
	})
}

func mustDo(t *testing.T, w *twin, o op) {
	t.Helper()
	if _, err := w.do(o); err != nil {
		t.Fatal(err)
	}
	if err := w.real.m.table.space(o.ctx).check(); err != nil {
		t.Fatalf("after %+v: %v", o, err)
	}
}

// TestSmallWorld runs every sequence of four calls (five with -long) over two
// sources and two tags, each on a context of its own.
func TestSmallWorld(t *testing.T) {
	var alphabet []op
	for _, src := range []int{0, 1, Any} {
		for _, tag := range []int{0, 1, Any} {
			alphabet = append(alphabet, op{verb: post, src: src, tag: tag})
			if src != Any && tag != Any {
				alphabet = append(alphabet, op{verb: arrive, src: src, tag: tag, announced: tag == 1})
			}
		}
	}
	alphabet = append(alphabet, op{verb: fail, src: 0}, op{verb: fail, src: 1, blocking: true},
		op{verb: mprobe, src: Any, tag: 1}, op{verb: withdraw})
	depth := 4
	if *long {
		depth = 5
	}
	w, total := newTwin(), 1
	for range depth {
		total *= len(alphabet)
	}
	for n := range total {
		ctx := uint32(n)
		w.real.m.long = []int{0, longQueue}[n%2]
		seq := []op{{verb: open, members: 2, all: n%5 == 0}}
		for k, rest := 0, n; k < depth; k, rest = k+1, rest/len(alphabet) {
			o := alphabet[rest%len(alphabet)]
			if o.id = n*depth + k; o.verb == withdraw {
				o.id = n * depth // the first
			}
			seq = append(seq, o)
		}
		for _, o := range append(seq, op{verb: free}) {
			o.ctx = ctx
			if _, err := w.do(o); err != nil {
				t.Fatalf("%+v: %v", seq, err)
			}
		}
		clear(w.real.recvs)
		clear(w.dumb.ever)
		clear(w.dumb.spaces)
	}
	if m, b := w.real.m.Buffered(); m != 0 || b != 0 {
		t.Errorf("%d messages of %d bytes left", m, b)
	}
	if err := w.compare(); err != nil {
		t.Error(err)
	}
	t.Logf("%d sequences of %d calls", total, depth)
}
