package nodecoll

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// TestLayoutFits: the parts of a block are large enough, and so is the area, for
// any number of members.
func TestLayoutFits(t *testing.T) {
	for procs := 1; procs <= 300; procs++ {
		if l, d := segment.PartBytes(segment.CollectiveLines, procs), segment.PartBytes(segment.DataPart, procs); l < LinesBytes(procs) || d < DataBytes {
			t.Errorf("%d processes: parts of %d and %d bytes", procs, l, d)
		}
	}
	for n := 1; n <= 300; n++ {
		l := lines{first: linesAt(n), stride: lineStride(n), members: n}
		if end := l.result(n-1, slots-1) + segment.Line; end > LinesBytes(n) || l.arrival(0, 0) < stepsAt+n*stride {
			t.Errorf("lines of %d members end at %d of %d", n, end, LinesBytes(n))
		}
	}
	denser := 8
	if raceOn {
		denser = 1 // pure arithmetic: the detector has nothing to find
	}
	for n := 2; n <= 300; n += 1 + n/denser {
		for _, chunk := range []int{0, 1, 5000, chunkBytesMax, 1 << 30} {
			for _, mutual := range []bool{true, false} {
				g := &Group{members: make([]member, n), regime: regimeOf(&Config{N: n, Mutual: mutual, Chunk: chunk})}
				if end := g.reduction.resultAt(g, g.me, 1) + g.reduction.resultRoom(g); end > sharedAreaBytes {
					t.Fatalf("%d members, chunk %d: buffers end at %d of %d", n, chunk, end, sharedAreaBytes)
				}
				if mutual {
					placesFit(t, g)
				}
				for elem := 1; elem <= elemBytesMax; elem++ {
					slicesFit(t, g, elem)
				}
			}
		}
	}
}

// TestSlotsAreApart: payloads of any length, of operations in which members may be at the same
// time, lie apart from each other and from the area.
func TestSlotsAreApart(t *testing.T) {
	w := newWorld(3)
	g := New(w.config(0, false, 0))
	type slot struct {
		from, to int
		name     string
	}
	var taken []slot
	base := &g.memory.bytesOf(0)[0]
	for _, v := range []verb{gather, allgather} {
		for _, size := range []int{shortBytes, middleBytes, longBytes} {
			g.verb, g.size, g.next, g.out = v, size, collecting, make([]byte, size)
			for g.op = 0; g.op < g.reuseDistance(); g.op++ {
				at := g.slotOf(0)
				from := int(uintptr(unsafe.Pointer(&at[0])) - uintptr(unsafe.Pointer(base)))
				taken = append(taken, slot{from, from + len(at), fmt.Sprintf("%v of %d bytes, operation %d", v, size, g.op)})
			}
		}
	}
	taken = append(taken, slot{areaAt, DataBytes, "the area"})
	slices.SortFunc(taken, func(a, b slot) int { return a.from - b.from })
	for i := range taken[1:] {
		if a, b := taken[i], taken[i+1]; a.to > b.from {
			t.Errorf("%s, %d to %d, reaches into %s, from %d", a.name, a.from, a.to, b.name, b.from)
		}
	}
}

// placesFit checks where reductions of various sizes, one after the other, have their buffers:
// inside the area, and apart from the buffers of the two chunks before, even if these belong to
// another operation.
func placesFit(t *testing.T, g *Group) {
	t.Helper()
	type place struct{ from, to int }
	var last [2]place
	for i := range 200 {
		elem := 1 + i%elemBytesMax
		g.red.ElemBytes, g.size = elem, (1+i*i*977%(3<<20))/elem*elem
		r := &g.reduction
		r.cut(g)
		for c := range r.ring.chunks {
			p := place{r.inAt(g, g.me, c), r.resultAt(g, g.me, c) + r.ring.chunk/len(g.members) + r.unit}
			if p.from < 0 || r.resultAt(g, g.me, c) < r.inAt(g, g.me, c)+r.ring.chunk || p.to > areaBytes {
				t.Fatalf("%d members, %d bytes: buffers of chunk %d are from %d to %d", len(g.members), g.size, c, p.from, p.to)
			}
			for _, q := range last {
				if p.from < q.to && q.from < p.to {
					t.Fatalf("%d members, %d bytes: chunk %d at %+v overlaps %+v", len(g.members), g.size, c, p, q)
				}
			}
			last[0], last[1] = last[1], p
		}
	}
}

// slicesFit checks that slices cover a chunk without overlap, and fit.
func slicesFit(t *testing.T, g *Group, elem int) {
	unit := lineUnit(elem)
	r := reduction{unit: unit, ring: ring{chunk: max(unit, g.reduceChunk()/unit*unit)}}
	if unit%elem != 0 || unit%segment.Line != 0 || unit > unitMax || r.ring.chunk > r.inRoom(g) {
		t.Fatalf("elements of %d: unit %d, chunk %d in %d", elem, unit, r.ring.chunk, r.inRoom(g))
	}
	for _, bytes := range []int{r.ring.chunk, elem, r.ring.chunk / 3 / elem * elem} {
		at := 0
		for m := range g.members {
			from, to := r.sliceOf(m, len(g.members), bytes)
			if from != at || to < from || to-from > r.resultRoom(g) || to%elem != 0 {
				t.Fatalf("%d bytes of elements of %d: member %d of %d has %d to %d", bytes, elem, m, len(g.members), from, to)
			}
			at = to
		}
		if at != bytes {
			t.Fatalf("slices end at %d of %d", at, bytes)
		}
	}
}

// TestAdvanceIsBounded: one Advance does a bounded amount of work.
func TestAdvanceIsBounded(t *testing.T) {
	for _, n := range []int{2, 5, 40} {
		for _, mutual := range []bool{true, false} {
			w := newWorld(n)
			worked := 0
			r := Reduce{ElemBytes: 8, Func: func(dst, acc, in []byte) { worked += len(in); fold(dst, acc, in) }}
			gs := make([]*Group, n)
			for m := range gs {
				gs[m] = New(w.config(m, mutual, 0))
			}
			all := func(what uint64, start func(g *Group)) {
				for open := n; open > 0; {
					open = 0
					for _, g := range gs {
						b := &g.broadcast
						before := b.pos * b.ring.chunk
						worked = 0
						if g.op < int64(what) {
							start(g)
						}
						if !g.Advance() {
							open++
						}
						if most := 2 * (workBytes + workBytes/2); worked > most || b.pos*b.ring.chunk-before > most {
							t.Fatalf("%d members, %s: %d bytes reduced, %d broadcast in one piece", n, regimeName(mutual), worked, b.pos*b.ring.chunk-before)
						}
					}
				}
			}
			bufs := make([][]byte, n)
			for m := range bufs {
				bufs[m] = make([]byte, 600000)
			}
			all(1, func(g *Group) { g.Bcast(1, 0, bufs[g.me]) })
			all(2, func(g *Group) { g.Allreduce(2, bufs[g.me], bufs[g.me], r) })
			all(3, func(g *Group) { g.Allreduce(3, bufs[g.me][:1600], bufs[g.me][:1600], r) })
		}
	}
}

// TestMisuse: mistakes of the program panic at once.
func TestMisuse(t *testing.T) {
	add := Reduce{ElemBytes: 8, Func: func(_, _, _ []byte) {}}
	b := make([]byte, 16)
	for i, wrong := range []func(g *Group){
		func(g *Group) { g.Barrier(1); g.Barrier(1) },
		func(g *Group) { g.Allreduce(1, b, b[:8], add) },
		func(g *Group) { g.Allreduce(1, b[:12], b[:12], add) },
		func(g *Group) { g.Reduce(1, 0, b[:8], b, add) },
		func(g *Group) { g.Reduce(1, 2, nil, b, add) },
		func(g *Group) { g.Bcast(1, -1, b) },
		func(g *Group) { g.Reduce(1, 0, b, b, Reduce{ElemBytes: 17, Func: add.Func}) },
		func(*Group) { c := newWorld(2).config(2, true, 0); New(c) },
		func(*Group) { c := newWorld(2).config(0, true, 0); c.Base = c.Base[:1]; New(c) },
		func(*Group) { c := newWorld(2).config(0, true, -1); New(c) },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			wrong(New(newWorld(2).config(0, true, 0)))
		})
	}
}
