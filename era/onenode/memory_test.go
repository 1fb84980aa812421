package onenode

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// ram is shared memory as words. Members access the memory through views, and each access to a word
// is one step that a test can order.
type ram struct {
	n, slots            int
	longWords, valWords int
	words               []uint64
	tornLines           bool // planted bug: a line's number is stored before the rest
}

func newRAM(n, slots, longBytes, valueBytes int, tag uint32) *ram {
	r := &ram{n: n, slots: slots, longWords: (longBytes + 7) / 8, valWords: (valueBytes + 7) / 8}
	r.words = make([]uint64, slots+n*slots*r.placeWords())
	for slot := range slots {
		r.words[slot] = uint64(tag) << 32
	}
	return r
}

func (r *ram) clone() *ram {
	c := *r
	c.words = slices.Clone(r.words)
	return &c
}

// A place is the number, call, flag and length of a line, its long part, the length
// of a value and the value.
const (
	seqWord = iota
	callWord
	flagWord
	lengthWord
	longStart
)

func (r *ram) placeWords() int { return longStart + r.longWords + 1 + r.valWords }

func (r *ram) place(m, slot int) int { return r.slots + (m*r.slots+slot)*r.placeWords() }

func (r *ram) valueStart() int { return longStart + r.longWords }

// view is one member's Memory.
type view struct {
	*ram
	me     int
	run    *run         // nil: no access waits for anything
	played func(string) // called at changes that others may wait for; may be nil
}

// run is a Step with a limited number of accesses: those in the log were made before, at their
// time, and budget more are made now. At the next access the Step is abandoned, to be run again
// with a longer log.
type run struct {
	log    []uint64
	pos    int
	budget int
}

type paused struct{}

// access makes an access, if the budget allows. Reads of words that only the reader writes are
// free: their order relative to other accesses makes no difference.
func (v *view) access(free bool, do func() uint64) uint64 {
	r := v.run
	if r == nil {
		return do()
	}
	if r.pos == len(r.log) {
		if !free && r.budget == 0 {
			panic(paused{})
		}
		if !free {
			r.budget--
		}
		r.log = append(r.log, do())
	}
	r.pos++
	return r.log[r.pos-1]
}

func (v *view) load(owner, at int) uint64 {
	return v.access(owner == v.me, func() uint64 { return v.words[at] })
}

func (v *view) store(at int, x uint64, then func()) {
	v.access(false, func() uint64 {
		v.words[at] = x
		then()
		return 0
	})
}

func (v *view) log(format string, args ...any) {
	if v.played != nil {
		v.played(fmt.Sprintf(format, args...))
	}
}

func nothing() {}

func (v *view) Publish(slot int, seq uint64, l Line, long []byte) {
	at := v.place(v.me, slot)
	number := func() {
		v.store(at+seqWord, seq, func() { v.log("%d line #%d %s", v.me, seq, lineText(l, long, v.n)) })
	}
	if v.tornLines {
		number()
	}
	v.storeBytes(at+longStart, v.longWords, long)
	v.store(at+callWord, l.Call, nothing)
	v.store(at+flagWord, l.Flag, nothing)
	v.store(at+lengthWord, uint64(l.LongBytes), nothing)
	if !v.tornLines {
		number()
	}
}

func lineText(l Line, long []byte, n int) string {
	if l.LongBytes == 0 {
		return fmt.Sprintf("plain flag=%d call=%d", l.Flag, l.Call)
	}
	msg, err := era.DecodeMessage(long, n)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("[%v]", msg.(era.Up).Value)
}

func (v *view) storeBytes(at, most int, b []byte) {
	if len(b) > 8*most {
		panic(fmt.Sprintf("%d bytes do not fit into %d words", len(b), most))
	}
	for ; len(b) > 0; at++ {
		var word [8]byte
		n := copy(word[:], b)
		v.store(at, binary.LittleEndian.Uint64(word[:]), nothing)
		b = b[n:]
	}
}

func (v *view) Read(m, slot int, seq uint64) (Line, bool) {
	at := v.place(m, slot)
	if v.load(m, at+seqWord) != seq {
		return Line{}, false
	}
	return Line{Call: v.load(m, at+callWord), Flag: v.load(m, at+flagWord), LongBytes: uint32(v.load(m, at+lengthWord))}, true
}

func (v *view) Long(m, slot, n int) []byte { return v.loadBytes(m, v.place(m, slot)+longStart, n) }

func (v *view) loadBytes(owner, at, n int) []byte {
	var b []byte
	for ; len(b) < n; at++ {
		b = binary.LittleEndian.AppendUint64(b, v.load(owner, at))
	}
	return b[:n]
}

func (v *view) Offer(slot int, value []byte) {
	at := v.place(v.me, slot) + v.valueStart()
	v.storeBytes(at+1, v.valWords, value)
	v.store(at, uint64(len(value)), func() { v.log("%d offers a value in slot %d", v.me, slot) })
}

func (v *view) Value(m, slot int) []byte {
	at := v.place(m, slot) + v.valueStart()
	return v.loadBytes(m, at+1, int(min(v.load(m, at), uint64(8*v.valWords))))
}

func (v *view) Word(slot int) uint64 { return v.load(-1, slot) }

func (v *view) Swap(slot int, old, new uint64) bool {
	return v.access(false, func() uint64 {
		if v.words[slot] != old {
			v.log("%d finds the word of slot %d taken by %d", v.me, slot, int(uint16(v.words[slot]))-1)
			return 0
		}
		v.words[slot] = new
		v.log("%d takes the word of slot %d", v.me, slot)
		return 1
	}) == 1
}

// TestBounds: the longest contribution and the longest value fit into LongMax and ValueMax, and
// both together, with 256 bytes for the line and the needs of the memory itself, into 1 KiB and 32
// bytes for each process.
func TestBounds(t *testing.T) {
	entry := make([]byte, EntryMax)
	for _, n := range []int{1, 2, 3, 63, 64, 65, 127, 128, 129, 500, 1024, 4096, 16384} {
		all := rankset.Range(0, n)
		claim := era.Claim{Call: math.MaxUint64, Rank: n - 1}
		v := era.Value{From: rankset.Of(n - 1), Lo: claim, Hi: claim, Vetoes: rankset.Of(n - 1), Flag: math.MaxUint64,
			Dead: all, Acked: all, Entries: []era.Entry{{Rank: n - 1, Data: entry}}}
		if got := len(era.AppendMessage(nil, era.Up{Value: v})); got > LongMax(n) {
			t.Errorf("%d members: a contribution has %d bytes, more than %d", n, got, LongMax(n))
		}
		v.From, v.Vetoes, v.Entries = all, all, nil
		for r := range n {
			v.Entries = append(v.Entries, era.Entry{Rank: r, Data: entry})
		}
		got := len(era.AppendMessage(nil, era.Down{Value: v}))
		if got > ValueMax(n) {
			t.Errorf("%d members: a value has %d bytes, more than %d", n, got, ValueMax(n))
		}
		if most := 256 + LongMax(n) + ValueMax(n); most > 1<<10+32*n {
			t.Errorf("%d members: %d bytes for a slot", n, most)
		}
		for _, sparse := range []rankset.Set{all, every(n, 3), every(n, 20), every(n, 130)} {
			v := era.Value{From: all, Dead: sparse, Acked: sparse, Vetoes: sparse, Lo: claim, Hi: claim, Entries: v.Entries}
			if got := len(era.AppendMessage(nil, era.Down{Value: v})); got > ValueMax(n) {
				t.Errorf("%d members, dead %v: %d bytes, more than %d", n, sparse, got, ValueMax(n))
			}
		}
	}
}

func every(n, step int) rankset.Set {
	var s rankset.Set
	for r := 0; r < n; r += step {
		s.Add(r)
	}
	return s
}
