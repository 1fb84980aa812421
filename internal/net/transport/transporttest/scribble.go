package transporttest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A SharedWorld is a World of rings in shared memory, where any process can write any value
// anywhere.
type SharedWorld interface {
	World
	// Arena returns the arena of a rank, for scribbling.
	Arena(rank int) *segment.Arena
}

// Scribble makes a peer write invalid values: into the frames that it publishes, and into the words
// by which it publishes its progress. The reader must detect them, report them by Broken, and
// continue with all other processes. No call may panic.
func Scribble(t *testing.T, factory func(t *testing.T, n int) SharedWorld) {
	for _, s := range dataScribbles() {
		t.Run("data/"+s.name, func(t *testing.T) { scribbleData(t, factory, s) })
	}
	for _, s := range controlScribbles() {
		t.Run("control/"+s.name, func(t *testing.T) { scribbleControl(t, factory, s) })
	}
	t.Run("first payload of all", func(t *testing.T) { firstPayload(t, factory) })
	t.Run("payload without a ring", func(t *testing.T) { noPayloadRing(t, factory) })
	t.Run("frames out of turn", func(t *testing.T) { outOfTurn(t, factory) })
	t.Run("consumed more than was sent", func(t *testing.T) { headAhead(t, factory) })
	t.Run("words of the consumer", func(t *testing.T) { consumerWords(t, factory) })
	t.Run("bits of nobody", func(t *testing.T) { bitsOfNobody(t, factory) })
}

// A scribble changes the cell of a frame that was published in order.
type scribble struct {
	name   string
	header transport.Header
	change func(c *segment.Cell)
}

// Bits of a data cell's second header word.
const (
	sizeShift = 24
	kindShift = 8
	outFlag   = 1
	longFlag  = 4
)

func dataScribbles() []scribble {
	small := transport.Header{Kind: transport.Eager, Size: 8}
	eager := transport.Header{Kind: transport.Eager, Size: 4096}
	chunk := transport.Header{Kind: transport.Chunk, Size: 4096, Offset: 100}
	list := []scribble{
		{"kind 0", small, func(c *segment.Cell) { c.Word2 &^= 0xff << kindShift }},
		{"kind 200", small, func(c *segment.Cell) { c.Word2 |= 200 << kindShift }},
		{"inline longer than a cell", small, resize(segment.InlineBytes + 1)},
		{"inline of the largest size", small, resize(transport.SizeMax)},
		{"inline said to be outside", small, func(c *segment.Cell) { c.Word2 |= outFlag; c.SetInline(0, 1<<30) }},
		{"eager too long for a ring that is there", eager, resize(transport.EagerMax + 1)},
		{"eager too long", eager, resize(transport.LongMax + 1)},
		{"eager of the largest size", eager, resize(transport.SizeMax)},
		{"chunk too long", chunk, resize(transport.ChunkMax + 1)},
		{"chunk at a negative offset", chunk, func(c *segment.Cell) { c.SetInline(1, 1<<63) }},
		{"chunk whose end overflows", chunk, func(c *segment.Cell) { c.SetInline(1, math.MaxInt64) }},
		{"chunk beyond any message", chunk, func(c *segment.Cell) { c.SetInline(1, transport.SizeMax-4095) }},
	}
	for _, p := range positions {
		list = append(list,
			scribble{"eager " + p.name, eager, func(c *segment.Cell) { c.SetInline(0, p.pos) }},
			scribble{"chunk " + p.name, chunk, func(c *segment.Cell) { c.SetInline(2, p.pos) }})
	}
	long := transport.Header{Kind: transport.Eager, Size: transport.LongMax}
	for _, pos := range []uint64{segment.LongBytes - 64, segment.LongBytes, 1 << 40, 1<<64 - transport.LongMax} {
		list = append(list, scribble{fmt.Sprintf("long at %#x", pos), long, func(c *segment.Cell) { c.SetInline(0, pos) }})
	}
	list = append(list, scribble{"eager said to be where long ones are", eager, func(c *segment.Cell) { c.Word2 ^= longFlag }},
		scribble{"chunk said to be where long ones are", chunk, func(c *segment.Cell) { c.Word2 ^= longFlag }})
	return list
}

// positions are positions in the payload ring that are invalid for 4096 bytes after one frame of
// 4096 bytes was read.
var positions = []struct {
	name string
	pos  uint64
}{
	{"freed before", 0},
	{"across the end", segment.PayloadBytes - 2048},
	{"one line beyond the round", segment.PayloadBytes + segment.Line},
	{"a round ahead", 2 * segment.PayloadBytes},
	{"far", 1 << 40},
	{"at the largest", math.MaxUint64},
	{"where the end overflows to 0", 1<<64 - 4096},
	{"where the end overflows to 64", 1<<64 - 4096 + 64},
}

func resize(n uint64) func(*segment.Cell) {
	return func(c *segment.Cell) { c.Word2 = c.Word2&(1<<sizeShift-1) | n<<sizeShift }
}

func scribbleData(t *testing.T, factory func(t *testing.T, n int) SharedWorld, s scribble) {
	w := factory(t, 3)
	es := ends(w, 3)
	me, bad, good := es[0], es[1], es[2]
	sendSized(t, bad, 4096)
	if _, ok := me.Peek(1); !ok {
		t.Fatalf("a good frame is not there: %v", me.Broken(1))
	}
	me.Advance(1)
	if s.header.Kind == transport.Eager && s.header.Size > transport.EagerMax && s.header.Size > eagerMax(bad, 0) {
		return // this transport cannot send the frame
	}
	if !bad.TrySend(0, &s.header, piece(newStream(0).rng, s.header.Size)) {
		t.Fatal("no room")
	}
	s.change(&mustFind(t, w, segment.Data, 1, 0).Cells[1])
	sendOne(t, good, 0, 3)

	if p, ok := me.Link.(*transport.Port); ok {
		if l, payload, ok := p.NextInline(1); ok {
			t.Fatalf("nonsense was read as %+v with %d bytes", l, len(payload))
		}
	}
	if f, ok := me.Peek(1); ok {
		t.Fatalf("nonsense was read as %+v with %d bytes", f.Header, len(f.Payload))
	}
	wantBroken(t, me, 1)
	readOne(t, me, 2, 3)
}

func sendSized(t *testing.T, e *end, size int) {
	t.Helper()
	h, payload := numbered(0, size)
	if !e.TrySend(0, &h, payload) {
		t.Fatal("no room")
	}
}

// wantBroken requires that all traffic with the process has ended, for both classes, and that the
// error names the process.
func wantBroken(t *testing.T, e *end, proc int) {
	t.Helper()
	err := e.Broken(proc)
	if err == nil {
		t.Fatal("a process that scribbles does not count as broken")
	}
	if text := err.Error(); strings.Contains(text, "%!") || !strings.Contains(text, fmt.Sprint(proc)) {
		t.Errorf("text of the error: %q", text)
	}
	wantNoData(t, e, proc)
	wantNoControl(t, e, proc)
	for i := range 2 * segment.DataCells {
		sendOne(t, e, proc, i%5)
		if e.TryControl(proc, []byte("x"), 0) != 1 {
			t.Fatal("control to a broken process must succeed")
		}
	}
	e.Advance(proc)
	e.Sweep(proc)
	e.WantRoom(proc, true)
}

func mustFind(t *testing.T, w SharedWorld, k segment.Kind, from, to int) *segment.Ring {
	t.Helper()
	r, err := w.Arena(from).Find(k, to, 0)
	if r == nil || err != nil {
		t.Fatalf("no ring from %d to %d: %v", from, to, err)
	}
	return r
}

// A controlScribble changes the only cell of a control frame, or one of three. If the only cell is
// wrong, no other cell can reveal that.
type controlScribble struct {
	name   string
	cell   int
	length uint64 // length of the frame, in the cell
	here   uint64 // bytes in this cell, in the cell
}

func controlScribbles() []controlScribble {
	return []controlScribble{
		{"empty frame", 0, 0, 0},
		{"frame of length 0", 0, 0, 40},
		{"empty cell", 0, 100, 0},
		{"cell longer than a cell", 0, 100, 41},
		{"cell of the largest length", 0, 100, math.MaxUint64},
		{"cell longer than the frame", 0, 30, 31},
		{"frame too long", 0, transport.ControlMax + 1, 40},
		{"frame of the largest length", 0, math.MaxUint64, 40},
		{"length that changes", 2, 101, 20},
		{"last cell too long", 2, 100, 21},
		{"second frame inside the first", 1, 40, 40},
	}
}

func scribbleControl(t *testing.T, factory func(t *testing.T, n int) SharedWorld, s controlScribble) {
	w := factory(t, 3)
	es := ends(w, 3)
	size := segment.InlineBytes
	if s.cell > 0 {
		size = 100
	}
	es[1].TryControl(0, text(1, 0, size), 0)
	mustFind(t, w, segment.Control, 1, 0).Cells[s.cell].SetWords(s.length, s.here)
	es[2].TryControl(0, []byte("fine"), 0)
	if frame, ok := es[0].NextControl(1); ok {
		t.Fatalf("nonsense was read as %d bytes", len(frame))
	}
	wantBroken(t, es[0], 1)
	if frame, ok := es[0].NextControl(2); !ok || string(frame) != "fine" {
		t.Errorf("control from another process: %q, %v", frame, ok)
	}
}

// firstPayload uses a position whose end, as a sum, is exactly the place where the first payload is
// expected.
func firstPayload(t *testing.T, factory func(t *testing.T, n int) SharedWorld) {
	w := factory(t, 2)
	es := ends(w, 2)
	sendSized(t, es[1], 4096)
	mustFind(t, w, segment.Data, 1, 0).Cells[0].SetInline(0, 1<<64-4096)
	wantNoData(t, es[0], 1)
	wantBroken(t, es[0], 1)
}

// noPayloadRing refers to a payload before there is a payload ring.
func noPayloadRing(t *testing.T, factory func(t *testing.T, n int) SharedWorld) {
	w := factory(t, 2)
	es := ends(w, 2)
	sendOne(t, es[1], 0, 0)
	mustFind(t, w, segment.Data, 1, 0).Cells[0].Word2 |= outFlag
	wantNoData(t, es[0], 1)
	wantBroken(t, es[0], 1)
}

// outOfTurn gives a cell the sequence number of another round. The cell is then not the next frame,
// so there is none.
func outOfTurn(t *testing.T, factory func(t *testing.T, n int) SharedWorld) {
	w := factory(t, 2)
	es := ends(w, 2)
	sendOne(t, es[1], 0, 0)
	es[1].TryControl(0, []byte("x"), 0)
	for _, k := range []segment.Kind{segment.Data, segment.Control} {
		cells := mustFind(t, w, k, 1, 0).Cells
		for _, seq := range []uint64{0, 2, uint64(len(cells)) + 1, math.MaxUint64} {
			segment.Store64(&cells[0].Seq, seq)
			if k == segment.Data {
				wantNoData(t, es[0], 1)
			} else {
				wantNoControl(t, es[0], 1)
			}
		}
	}
}

// headAhead makes the consumer claim more than was ever sent. From then on nothing becomes free,
// and no cell is overwritten that a correct consumer might still read.
func headAhead(t *testing.T, factory func(t *testing.T, n int) SharedWorld) {
	for _, head := range []uint64{segment.DataCells + 1, 1 << 40, math.MaxUint64} {
		w := factory(t, 2)
		e := newEnd(w, 1)
		full := fill(e, 0, 0, 8)
		r := mustFind(t, w, segment.Data, 1, 0)
		segment.Store64(r.Head, head)
		for i := range 5 {
			if h, payload := numbered(full+i, 8); e.TrySend(0, &h, payload) {
				t.Fatalf("head %#x: attempt %d overwrote a cell", head, i+1)
			}
		}
		for i := range r.Cells {
			if r.Cells[i].Seq != uint64(i+1) {
				t.Fatalf("head %#x: cell %d was overwritten", head, i)
			}
		}
	}
}

// consumerWords writes invalid values into all words by which a consumer reports to its producer.
// The producer may wait for ever, but must neither panic nor write outside of its ring.
func consumerWords(t *testing.T, factory func(t *testing.T, n int) SharedWorld) {
	for _, v := range []uint64{1, 63, 1 << 20, 1 << 63, math.MaxUint64} {
		w := factory(t, 3)
		es := ends(w, 3)
		sendSized(t, es[1], 4096)
		es[1].TryControl(0, []byte("x"), 0)
		long := eagerMax(es[1], 0)
		for _, k := range []segment.Kind{segment.Data, segment.Control} {
			r := mustFind(t, w, k, 1, 0)
			for _, word := range []*uint64{r.Head, r.PayloadHead, r.LongHead, r.Credit, r.WantsRoom} {
				segment.Store64(word, v)
			}
		}
		fill(es[1], 2, 0, 3000)
		for i := range 1000 {
			h, payload := numbered(i, 64*i%long)
			es[1].TrySend(0, &h, payload)
			es[1].TryControl(0, payload, 0)
		}
		if es[1].CreditReturned(0) != v {
			t.Error("the credit word is the peer's, as it stands")
		}
		es[1].WantRoom(0, true)
		es[0].Sweep(1)
		for i := range fillMax {
			f, ok := es[2].Peek(1)
			if !ok {
				break
			}
			h, payload := numbered(i, 3000)
			if err := same(f, h, payload); err != nil {
				t.Fatalf("a ring to another process: %v", err)
			}
			es[2].Advance(1)
		}
	}
}

// bitsOfNobody sets all any-source bits.
func bitsOfNobody(t *testing.T, factory func(t *testing.T, n int) SharedWorld) {
	const n = 3
	w := factory(t, n)
	e := newEnd(w, 0)
	for _, c := range []segment.Kind{segment.Data, segment.Control} {
		segment.Or64(&w.Arena(0).Bits(c)[0], math.MaxUint64)
		if got := e.Take(transport.Class(c), nil); !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("class %d: Take returned %v in a world of %d", c, got, n)
		}
	}
	if err := e.serve(); err != nil || e.Pending(-1) {
		t.Errorf("after all bits were taken: %v, pending %v", err, e.Pending(-1))
	}
}
