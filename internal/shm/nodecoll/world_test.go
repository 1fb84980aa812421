package nodecoll

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// world is the memory that n members share, with the values that earlier groups left there.
type world struct {
	n     int
	lines segment.Region
	base  []uint64

	mu      sync.Mutex
	data    []segment.Region
	sources map[uint64][]byte // of members' open calls, by address
	// refuse reports whether the kernel refuses a copy; nil: never.
	refuse func(member int) bool
}

func newWorld(n int) *world {
	w := &world{n: n, lines: segment.HeapRegion(LinesBytes(n)), base: make([]uint64, n), data: make([]segment.Region, n), sources: map[uint64][]byte{}}
	for m := range n {
		w.base[m] = uint64(m) << 33
	}
	return w
}

// dirty fills all memory with values that an earlier group could have left: words below the bases.
func (w *world) dirty(rng *rand.Rand) {
	for m := range w.n {
		w.base[m] = 1<<40 + rng.Uint64N(1000)
	}
	for off := 0; off < LinesBytes(w.n); off += 8 {
		*w.lines.Word(off) = rng.Uint64N(1 << 40)
	}
	for m := range w.n {
		*w.lines.Word(stepsAt + m*stride) = rng.Uint64()
		d := w.region(m)
		for off := 0; off < DataBytes; off += 8 {
			*d.Word(off) = rng.Uint64()
		}
	}
}

// nextGroup reuses the regions for another group, after ops operations.
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
	return Config{N: w.n, Me: me, Mutual: mutual, Lines: w.lines, Data: w.region, Base: w.base, Chunk: chunk, Pull: w.pull}
}

// pull is Config.Pull for the sources in w.
func (w *world) pull(member int, addr uint64, dst []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil && w.refuse(member) {
		return false
	}
	for first, b := range w.sources {
		if addr >= first && addr+uint64(len(dst)) <= first+uint64(len(b)) {
			copy(dst, b[addr-first:])
			return true
		}
	}
	// The caller has its source back, after a mismatch: a member that copies now must not complete.
	for i := range dst {
		dst[i] = 0xee
	}
	return true
}

// source registers the source of an open call, or removes a source that its caller has back.
func (w *world) source(b []byte, open bool) {
	if len(b) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := segment.AddressOf(b); open {
		w.sources[at] = b
	} else {
		delete(w.sources, at)
	}
}

const verbs = exscan + 1

func (v verb) String() string {
	return [verbs]string{"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce_scatter", "scan", "exscan"}[v]
}

// cuts reports whether a payload has a part for each member.
func (v verb) cuts() bool { return v == scatter || v == alltoall || v == reduceScatter }

// collects reports whether a destination has a part of each member.
func (v verb) collects() bool { return v == gather || v == allgather || v == alltoall }

// sizeMax is the longest size of a call that n members can make.
func (v verb) sizeMax(n int) int {
	switch v {
	case reduceScatter:
		return PayloadBytes / n
	case gather:
		return PayloadBytes
	case scatter, allgather, alltoall:
		return 1 << 19 / n // long enough to be pulled in pieces
	}
	return 1 << 30
}

// call is one collective operation as all members call it. Its size is the size of a vector, or of
// a part.
type call struct {
	verb    verb
	root    int
	size    int
	elem    int
	inPlace bool
	seed    uint64

	mu   sync.Mutex
	want map[int][]byte
	// operands are the operands of all members, see kept.
	operands [][]byte
	// verdicts are the members' results of Refused.
	verdicts map[bool]bool
}

func (c *call) String() string {
	return fmt.Sprintf("%v of %d bytes in elements of %d, root %d, in place %v", c.verb, c.size, c.elem, c.root, c.inPlace)
}

func (c *call) what() uint64 {
	return uint64(c.verb)<<60 | uint64(c.root)<<44 | uint64(c.elem)<<36 | uint64(c.size)
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
func fold(dst, acc, in []byte) {
	acc = acc[:len(in)]
	for len(in) >= 8 {
		a, b := binary.LittleEndian.Uint64(acc), binary.LittleEndian.Uint64(in)
		const low = 0x00ff00ff00ff00ff // every second byte, so that no carry crosses
		even := (a&low)*31 + b&low
		odd := (a>>8&low)*31 + b>>8&low
		binary.LittleEndian.PutUint64(dst, even&low|odd&low<<8)
		dst, acc, in = dst[8:], acc[8:], in[8:]
	}
	for i, b := range in {
		dst[i] = acc[i]*31 + b
	}
}

// lengths returns the lengths of source and destination at a member; -1: there is none.
func (c *call) lengths(n, m int) (src, dst int) {
	src, dst = c.size, c.size
	if c.verb.cuts() {
		src *= n
	}
	if c.verb.collects() {
		dst *= n
	}
	if m != c.root && c.verb == scatter {
		src = -1
	}
	if m != c.root && (c.verb == gather || c.verb == reduce) || c.verb == barrier {
		dst = -1
	}
	return src, dst
}

// source returns member m's operand.
func (c *call) source(n, m int) []byte {
	size := c.size
	if c.verb.cuts() {
		size *= n
	}
	b := make([]byte, size)
	c.operand(m, b)
	return b
}

// expected returns the result of c at a member, computed sequentially; nil: none.
func (c *call) expected(n, me int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := me
	switch c.verb {
	case bcast, reduce, allreduce, gather, allgather:
		key = 0
	}
	want, ok := c.want[key]
	if !ok {
		want = c.compute(n, me)
		if c.want == nil {
			c.want = map[int][]byte{}
		}
		c.want[key] = want
	}
	return want
}

// kept is source with a cache: with a verb that cuts, each member needs the sources of all.
func (c *call) kept(n, m int) []byte {
	if !c.verb.cuts() {
		return c.source(n, m)
	}
	if c.operands == nil {
		c.operands = make([][]byte, n)
	}
	if c.operands[m] == nil {
		c.operands[m] = c.source(n, m)
	}
	return c.operands[m]
}

func (c *call) compute(n, me int) (want []byte) {
	part := func(b []byte) []byte { return b[me*c.size : (me+1)*c.size] }
	switch c.verb {
	case bcast:
		return c.source(n, c.root)
	case scatter:
		return part(c.source(n, c.root))
	}
	last := n - 1
	switch c.verb {
	case scan:
		last = me
	case exscan:
		last = me - 1
	}
	for m := range last + 1 {
		in := c.kept(n, m)
		if c.verb.cuts() {
			in = part(in)
		}
		if want == nil || c.verb.collects() {
			want = append(want, in...)
		} else {
			fold(want, want, in)
		}
	}
	return want
}

// actor is a member that makes calls one after the other.
type actor struct {
	w        *world
	g        *Group
	me, n    int
	calls    []*call
	next     int
	open     bool
	src, dst []byte // of the open call
	room     []byte // around dst
	room2    []byte // around src
	before   []byte // the old contents of dst
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
	src, dst := c.lengths(a.n, a.me)
	a.room2, a.src = framed(a.room2, max(src, 0))
	a.room, a.dst = framed(a.room, max(dst, 0))
	if c.inPlace && src >= 0 && dst >= 0 && !(c.verb == alltoall && src > WholeBytes) {
		a.together(c)
	}
	if src >= 0 {
		c.operand(a.me, a.src)
	} else {
		a.src = nil
	}
	if dst < 0 {
		a.dst = nil
	}
	a.before = append(a.before[:0], a.dst...)
	a.w.source(a.src, true)
	r := Reduce{Func: func(dst, acc, in []byte) {
		if len(dst) != len(acc) || len(acc) != len(in) || len(in)%c.elem != 0 || len(in) == 0 {
			panic(fmt.Sprintf("%v: reduced %d bytes into %d", c, len(in), len(acc)))
		}
		fold(dst, acc, in)
	}, ElemBytes: c.elem}
	switch c.verb {
	case barrier:
		a.g.Barrier(c.what())
	case bcast:
		if a.me != c.root && c.size > 0 {
			clear(a.src)
		}
		a.dst = a.src
		a.g.Bcast(c.what(), c.root, a.src)
	case reduce:
		a.g.Reduce(c.what(), c.root, a.dst, a.src, r)
	case allreduce:
		a.g.Allreduce(c.what(), a.dst, a.src, r)
	case gather:
		a.g.Gather(c.what(), c.root, a.dst, a.src)
	case scatter:
		a.g.Scatter(c.what(), c.root, a.dst, a.src)
	case allgather:
		a.g.Allgather(c.what(), a.dst, a.src)
	case alltoall:
		a.g.Alltoall(c.what(), a.dst, a.src)
	case reduceScatter:
		a.g.ReduceScatter(c.what(), a.dst, a.src, r)
	case scan:
		a.g.Scan(c.what(), a.dst, a.src, r)
	default:
		a.g.Exscan(c.what(), a.dst, a.src, r)
	}
	return true
}

// together makes source and destination share memory, as a caller may.
func (a *actor) together(c *call) {
	switch c.verb {
	case bcast:
	case gather, allgather:
		a.src = a.dst[a.me*c.size : (a.me+1)*c.size]
	case scatter:
		a.dst = a.src[a.me*c.size : (a.me+1)*c.size]
	case reduceScatter:
		a.dst = a.src[:c.size]
	default:
		a.dst = a.src
	}
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
	a.w.source(a.src, false)
	if a.w.refuse != nil {
		a.open = false
		a.next++
		return true, c.agree(a.g.Refused(), a.me)
	}
	want := c.expected(a.n, a.me)
	if c.verb == exscan && a.me == 0 {
		want = a.before
	}
	if a.dst != nil && !bytes.Equal(a.dst, want) {
		return true, fmt.Errorf("member %d of %d, call %d, %v: wrong result at byte %d", a.me, a.n, a.next, c, firstDifference(a.dst, want))
	}
	if (a.dst == nil || len(a.src) == 0 || len(a.dst) == 0 || !byteview.Overlap(a.dst, a.src)) && c.verb != bcast && a.src != nil {
		src := make([]byte, len(a.src))
		c.operand(a.me, src)
		if !bytes.Equal(a.src, src) {
			return true, fmt.Errorf("member %d of %d, call %d, %v: changed its operand", a.me, a.n, a.next, c)
		}
	}
	a.open = false
	a.next++
	return true, nil
}

// agree compares a member's result of Refused with the results of the others.
func (c *call) agree(refused bool, me int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdicts == nil {
		c.verdicts = map[bool]bool{}
	}
	c.verdicts[refused] = true
	if len(c.verdicts) > 1 {
		return fmt.Errorf("member %d, %v: refused for some members, and not for others", me, c)
	}
	return nil
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
		run, v := 1, verb(rng.IntN(int(verbs)))
		if rng.IntN(4) == 0 { // a verb in which members run ahead
			run, v = 2*longSlots+rng.IntN(slots), []verb{bcast, reduce, gather, scatter, scan, exscan}[rng.IntN(6)]
		}
		root, wander := rng.IntN(n), rng.IntN(2) == 0
		for range run {
			if wander {
				root = rng.IntN(n)
			}
			elem := 1 + rng.IntN(elemBytesMax)
			cs = append(cs, &call{verb: v, root: root, size: min(randomSize(rng, sizeMax), v.sizeMax(n)) / elem * elem, elem: elem, inPlace: rng.IntN(2) == 0, seed: rng.Uint64()})
		}
	}
	return cs
}

func randomSize(rng *rand.Rand, most int) int {
	inline := inlineOf(1 + rng.IntN(2)*mutualMembersMax)
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
