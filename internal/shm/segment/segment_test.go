package segment

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/stretchr/testify/assert"
)

func TestLayout(t *testing.T) {
	if s := unsafe.Sizeof(Cell{}); s != CellBytes {
		t.Fatalf("a Cell has %d bytes, want %d", s, CellBytes)
	}
	if DataCells&(DataCells-1) != 0 || ControlCells&(ControlCells-1) != 0 || PayloadBytes&(PayloadBytes-1) != 0 || LongBytes&(LongBytes-1) != 0 {
		t.Fatal("ring sizes must be powers of two")
	}
}

// TestNoOverlap writes a mark of its own into everything that segment 0 and an arena hold, for
// several sizes, and reads all marks back: two objects in one place would overwrite each other.
func TestNoOverlap(t *testing.T) {
	for _, procs := range []int{1, 2, 63, 64, 65, 200} {
		n := FormatNode(Heap(NodeBytes(procs)), procs, 7)
		words := map[*uint32]uint32{}
		for p := range procs {
			words[n.Tombstone(p)] = uint32(3 * p)
			words[n.m.word32(n.line(p, 1))] = uint32(3*p + 1)
			words[n.Doorbell(p)] = uint32(3*p + 2)
		}
		for w, v := range words {
			*w = v + 1000
		}
		for p := range procs {
			n.AppendDeath(p, Retired)
		}
		n.MoveEpoch()
		for w, v := range words {
			if *w != v+1000 {
				t.Fatalf("%d processes: a word of segment 0 was overwritten", procs)
			}
		}
		for p := range procs {
			if got, why, present := n.Death(p); got != p || why != Retired || !present {
				t.Fatalf("death %d reads %d, %d", p, got, why)
			}
		}
		checkArena(t, procs)
	}
}

func checkArena(t *testing.T, procs int) {
	t.Helper()
	a := HeapArena(procs)
	for _, k := range []Kind{Data, Control} {
		if r, err := a.Find(k, 0, 0); r != nil || err != nil {
			t.Fatalf("a ring before it was opened: %v, %v", r, err)
		}
	}
	for p := range procs {
		for _, k := range []Kind{Data, Control} {
			r := a.Open(k, p, 0)
			for i := range r.Cells {
				r.Cells[i].Seq = uint64(p*1000 + i)
			}
			*r.Head, *r.Credit, *r.WantsRoom = uint64(p), uint64(p+1), uint64(p+2)
			if k == Data {
				b := r.OpenPayload()
				b[0], b[len(b)-1] = byte(p), byte(p+1)
			}
			a.Bits(k)[p/64] |= 1 << (p % 64)
		}
	}
	for p := range procs {
		for _, k := range []Kind{Data, Control} {
			r, err := a.Find(k, p, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Cells {
				if r.Cells[i].Seq != uint64(p*1000+i) {
					t.Fatalf("%d processes: cell %d of the ring to %d was overwritten", procs, i, p)
				}
			}
			if *r.Head != uint64(p) || *r.Credit != uint64(p+1) || *r.WantsRoom != uint64(p+2) {
				t.Fatal("a ring's words were overwritten")
			}
			if b, err := r.Payload(); k == Data && (err != nil || b[0] != byte(p) || b[len(b)-1] != byte(p+1)) {
				t.Fatal("a payload ring was overwritten")
			}
		}
	}
}

// TestLongRings: the first processes to ask get one ring each, apart from all else. The other
// processes get none, and neither do processes with Go memory.
func TestLongRings(t *testing.T) {
	const procs = LongRings + 2
	a, err := OpenArena(Heap(ArenaBytes(procs)), procs)
	if err != nil {
		t.Fatal(err)
	}
	var rings []*Ring
	for p := range procs {
		r := a.Open(Data, p, 0)
		rings = append(rings, r)
		if b, err := r.Long(); b.Size() != 0 || err != nil {
			t.Fatalf("ring %d has long payloads before it was asked: %v", p, err)
		}
		b := r.OpenLong()
		if p >= LongRings {
			if b.Size() != 0 {
				t.Errorf("there are more than %d", LongRings)
			}
			continue
		}
		bytes := b.Bytes(0, LongBytes)
		bytes[0], bytes[LongBytes-1] = byte(p+1), byte(p+2)
		clear(r.OpenPayload())
		clear(a.Block(p, DataPart).Bytes(0, Line))
	}
	for p := range LongRings {
		b, err := rings[p].Long()
		if err != nil || b.Size() != LongBytes || b.Bytes(0, 1)[0] != byte(p+1) || b.Bytes(LongBytes-1, 1)[0] != byte(p+2) {
			t.Errorf("ring %d: %v, or overwritten", p, err)
		}
	}
	*rings[0].longOff = 1 << 40
	if _, err := rings[0].Long(); err == nil {
		t.Error("long payloads outside of the arena were accepted")
	}
	if HeapArena(2).Open(Data, 0, 0).OpenLong().Size() != 0 {
		t.Error("Go memory has long payloads")
	}
}

func TestOpenNodeRefuses(t *testing.T) {
	m := Heap(NodeBytes(4))
	if _, err := OpenNode(m, 1); err == nil || !strings.Contains(err.Error(), "another kind") {
		t.Errorf("all-zero memory: %v", err)
	}
	FormatNode(m, 4, 1)
	if _, err := OpenNode(m, 2); err == nil || !strings.Contains(err.Error(), "job") {
		t.Errorf("another job: %v", err)
	}
	*m.word32(offBuild) = buildid.Build ^ 1
	_, err := OpenNode(m, 1)
	assert.ErrorIs(t, err, buildid.ErrAnother)
}

func TestBrokenDirectory(t *testing.T) {
	a := HeapArena(2)
	*a.dir(Data, 1) = 1 << 39
	if _, err := a.Find(Data, 1, 0); err == nil {
		t.Error("a ring outside of the arena was accepted")
	}
	r := a.Open(Data, 0, 0)
	*r.payloadOff = 1 << 40
	if _, err := r.Payload(); err == nil {
		t.Error("a payload outside of the arena was accepted")
	}
}

func TestWakeAll(t *testing.T) {
	n := FormatNode(Heap(NodeBytes(2)), 2, 1)
	e, bell := n.Epoch(), *n.Doorbell(1)
	n.WakeAll(park.NewChannels())
	if n.Epoch() == e || *n.Doorbell(1) == bell {
		t.Error("WakeAll left the epoch or a doorbell as it was")
	}
}

// TestBlocksDoNotOverlap marks every part of every block, in mapped-like memory
// and in Go memory, and finds each mark again beside those of the rings.
func TestBlocksDoNotOverlap(t *testing.T) {
	const procs = 3
	mapped, err := OpenArena(Heap(ArenaBytes(procs)), procs)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*Arena{"mapped": mapped, "heap": HeapArena(procs)} {
		each := func(f func(first, last *uint64, mark uint64)) {
			for b := range Blocks {
				for p := range parts {
					r := a.Block(b, p)
					if r.Size() != PartBytes(p, procs) {
						t.Fatalf("%s: part %d has %d bytes", name, p, r.Size())
					}
					f(r.Word(0), r.Word(r.Size()-8), uint64(b*int(parts)+int(p)+1))
				}
			}
		}
		each(func(first, last *uint64, mark uint64) { *first, *last = mark, mark<<32 })
		for p := range procs {
			_ = a.Open(Data, p, 0).OpenPayload()
			_ = a.Open(Control, p, 0)
		}
		for i := range Transfers {
			*a.Transfer(i).Live, *a.Transfer(i).Claims, *a.Transfer(i).Limit = uint64(i+1), uint64(i+2), uint64(i+3)
		}
		for i := range Transfers {
			if x := a.Transfer(i); *x.Live != uint64(i+1) || *x.Claims != uint64(i+2) || *x.Limit != uint64(i+3) || *a.dir(Data, procs-1) == 0 {
				t.Fatalf("%s: transfer %d was overwritten", name, i)
			}
		}
		each(func(first, last *uint64, mark uint64) {
			if *first != mark || *last != mark<<32 {
				t.Fatalf("%s: mark %d was overwritten", name, mark)
			}
		})
	}
}

func TestBlockOf(t *testing.T) {
	for index, want := range map[uint32]int{0: 0, 62: 62, 63: -1, 64: 0, 127: -1, 128: 0} {
		if got := BlockOf(index); got != want {
			t.Errorf("BlockOf(%d) = %d, want %d", index, got, want)
		}
	}
}
