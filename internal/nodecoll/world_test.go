package nodecoll

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/goulfm/goulfm/internal/segment"
)

// world is the memory that n members share, and what earlier groups left there.
type world struct {
	n     int
	lines []segment.Region
	base  []uint64

	mu   sync.Mutex
	data []segment.Region
}

func newWorld(n int) *world {
	w := &world{n: n, base: make([]uint64, n), data: make([]segment.Region, n)}
	for m := range n {
		w.lines = append(w.lines, segment.HeapRegion(LinesBytes))
		w.base[m] = uint64(m) << 33
	}
	return w
}

// dirty fills all memory with what no group has left there but could have: words
// below the bases.
func (w *world) dirty(rng *rand.Rand) {
	for m := range w.n {
		w.base[m] = 1<<40 + rng.Uint64N(1000)
		for off := 0; off < LinesBytes; off += 8 {
			*w.lines[m].Word(off) = rng.Uint64N(w.base[m])
		}
		*w.lines[m].Word(stepsLine * stride) = rng.Uint64()
		d := w.region(m)
		for off := 0; off < DataBytes; off += 8 {
			*d.Word(off) = rng.Uint64()
		}
	}
}

// nextGroup makes the same regions those of another group, after ops operations.
func (w *world) nextGroup(ops int) {
	for m := range w.n {
		w.base[m] += uint64(ops) + 1
	}
}

func (w *world) region(m int) segment.Region {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.data[m].Size() == 0 {
		w.data[m] = segment.HeapRegion(DataBytes)
	}
	return w.data[m]
}

func (w *world) config(me int, mutual bool, chunk int) Config {
	return Config{N: w.n, Me: me, Mutual: mutual, Lines: w.lines, Data: w.region, Base: w.base, Chunk: chunk}
}

type kind int

const (
	barrier kind = iota
	bcast
	reduce
	allreduce
	kinds
)

func (k kind) String() string { return [...]string{"barrier", "bcast", "reduce", "allreduce"}[k] }

// call is one collective operation as all members call it.
type call struct {
	kind    kind
	root    int
	size    int
	elem    int
	inPlace bool
	seed    uint64

	once sync.Once
	want []byte
}

func (c *call) String() string {
	return fmt.Sprintf("%v of %d bytes in elements of %d, root %d, in place %v", c.kind, c.size, c.elem, c.root, c.inPlace)
}

func (c *call) what() uint64 {
	return uint64(c.kind)<<60 | uint64(c.root)<<44 | uint64(c.elem)<<36 | uint64(c.size)
}

// operand fills b with member m's operand.
func (c *call) operand(m int, b []byte) {
	x := (c.seed+uint64(m))*0x9e3779b97f4a7c15 + 1
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(b[i:], x)
	}
	for ; i < len(b); i++ {
		x = x<<9 ^ x>>5
		b[i] = byte(x)
	}
}

// fold is neither commutative nor associative: only rank order gives its result.
func fold(acc, in []byte) {
	acc = acc[:len(in)]
	for len(in) >= 8 {
		a, b := binary.LittleEndian.Uint64(acc), binary.LittleEndian.Uint64(in)
		const low = 0x00ff00ff00ff00ff // every second byte, so that no carry crosses
		even := (a&low)*31 + b&low
		odd := (a>>8&low)*31 + b>>8&low
		binary.LittleEndian.PutUint64(acc, even&low|odd&low<<8)
		acc, in = acc[8:], in[8:]
	}
	for i, b := range in {
		acc[i] = acc[i]*31 + b
	}
}

// expected returns the result of c, computed by one.
func (c *call) expected(n int) []byte {
	c.once.Do(func() {
		first := 0
		if c.kind == bcast {
			first = c.root
		}
		c.want = make([]byte, c.size)
		c.operand(first, c.want)
		in := make([]byte, c.size)
		for m := 1; m < n && (c.kind == reduce || c.kind == allreduce); m++ {
			c.operand(m, in)
			fold(c.want, in)
		}
	})
	return c.want
}

func (c *call) hasResult(m int) bool {
	return c.kind == allreduce || c.kind == bcast || c.kind == reduce && m == c.root
}

// actor is a member that makes calls one after the other.
type actor struct {
	g        *Group
	me, n    int
	calls    []*call
	next     int
	open     bool
	src, dst []byte // of the open call
	room     []byte // around dst
	room2    []byte // around src
}

const margin = 72

func framed(room []byte, size int) ([]byte, []byte) {
	if cap(room) < size+2*margin {
		room = make([]byte, size+2*margin)
	}
	room = room[:size+2*margin]
	clear(room)
	for i := range margin {
		room[i], room[len(room)-1-i] = 0xc5, 0xc5
	}
	return room, room[margin : margin+size : margin+size]
}

func frameIntact(room []byte) bool {
	for i := range margin {
		if room[i] != 0xc5 || room[len(room)-1-i] != 0xc5 {
			return false
		}
	}
	return true
}

// start makes the next call; false: there is none.
func (a *actor) start() bool {
	if a.next == len(a.calls) {
		return false
	}
	c := a.calls[a.next]
	a.open = true
	a.room2, a.src = framed(a.room2, c.size)
	a.room, a.dst = framed(a.room, c.size)
	c.operand(a.me, a.src)
	if c.inPlace {
		a.dst = a.src
	}
	r := Reduce{Func: func(acc, in []byte) {
		if len(acc) != len(in) || len(in)%c.elem != 0 || len(in) == 0 {
			panic(fmt.Sprintf("%v: reduced %d bytes into %d", c, len(in), len(acc)))
		}
		fold(acc, in)
	}, ElemBytes: c.elem}
	switch c.kind {
	case barrier:
		a.g.Barrier(c.what())
	case bcast:
		if a.me != c.root && c.size > 0 {
			clear(a.src)
		}
		a.dst = a.src
		a.g.Bcast(c.what(), c.root, a.src)
	case reduce:
		dst := a.dst
		if a.me != c.root {
			dst = nil
		}
		a.g.Reduce(c.what(), c.root, dst, a.src, r)
	default:
		a.g.Allreduce(c.what(), a.dst, a.src, r)
	}
	return true
}

// advance makes progress and checks the result if the call is complete.
func (a *actor) advance() (done bool, err error) {
	done = a.g.Advance()
	if !frameIntact(a.room) || !frameIntact(a.room2) {
		return done, fmt.Errorf("member %d of %d, call %d, %v: wrote outside its buffers", a.me, a.n, a.next, a.calls[a.next])
	}
	if !done {
		return false, nil
	}
	c := a.calls[a.next]
	if c.hasResult(a.me) && !bytes.Equal(a.dst, c.expected(a.n)) {
		return true, fmt.Errorf("member %d of %d, call %d, %v: wrong result at byte %d", a.me, a.n, a.next, c, firstDifference(a.dst, c.expected(a.n)))
	}
	if !c.hasResult(a.me) || !c.inPlace && c.kind != bcast {
		src := make([]byte, c.size)
		c.operand(a.me, src)
		if !bytes.Equal(a.src, src) {
			return true, fmt.Errorf("member %d of %d, call %d, %v: changed its operand", a.me, a.n, a.next, c)
		}
	}
	a.open = false
	a.next++
	return true, nil
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// randomCalls returns calls of mixed kinds and sizes, with runs of the kinds that
// do not synchronize.
func randomCalls(rng *rand.Rand, n, count, sizeMax int) []*call {
	var cs []*call
	for len(cs) < count {
		run, k := 1, kind(rng.IntN(int(kinds)))
		if rng.IntN(4) == 0 {
			run, k = 2*slots+rng.IntN(slots), bcast
			if rng.IntN(3) == 0 {
				k = reduce
			}
		}
		root, wander := rng.IntN(n), rng.IntN(2) == 0
		for range run {
			if wander {
				root = rng.IntN(n)
			}
			elem := 1 + rng.IntN(elemBytesMax)
			cs = append(cs, &call{kind: k, root: root, size: randomSize(rng, sizeMax) / elem * elem, elem: elem, inPlace: rng.IntN(2) == 0, seed: rng.Uint64()})
		}
	}
	return cs
}

func randomSize(rng *rand.Rand, most int) int {
	switch rng.IntN(4) {
	case 0:
		return rng.IntN(2 * inline)
	case 1:
		return min(most, []int{0, 1, 8, inline - 1, inline, inline + 1, 64, 65}[rng.IntN(8)])
	case 2:
		return rng.IntN(most/8 + 1)
	}
	return most/4 + rng.IntN(most*3/4+1)
}
