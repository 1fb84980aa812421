package collectives

import (
	"math"
	"testing"

	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// TestHeaderSurvivesItsTag over every kind and the limits of each field.
func TestHeaderSurvivesItsTag(t *testing.T) {
	for k := barrier; k < kinds; k++ {
		if traitsOf[k].name == "" {
			t.Errorf("kind %d has no name", k)
		}
		for _, what := range []int{0, 1, 500, 1<<whatBits - 1} {
			for _, odd := range []bool{false, true} {
				h := header{kind: k, what: what, odd: odd}
				tag := h.tag()
				if tag < 0 || tag >= sched.Notice || tag&(1<<seqBits-1) != 0 || parse(tag) != h {
					t.Errorf("%+v has tag %d, which means %+v", h, tag, parse(tag))
				}
			}
		}
	}
	if kinds > 1<<kindBits || opMaxLoc >= 1<<opBits {
		t.Errorf("%d kinds in %d bits, %d operations in %d", kinds, kindBits, opMaxLoc, opBits)
	}
}

// TestWaysDiffer: headers of one call with different ways differ, and are of one call nevertheless.
func TestWaysDiffer(t *testing.T) {
	for _, h := range []header{{kind: bcast, what: 1<<whatBits - 1}, {kind: allreduce, what: int(opMaxLoc)}, {kind: alltoall}} {
		a, b := h.withWay(0), h.withWay(lastNumber)
		if a == b || !a.sameCall(b) || a.String() != b.String() {
			t.Errorf("%v: %+v and %+v", h, a, b)
		}
	}
	if (header{kind: bcast, what: 1}).sameCall(header{kind: bcast, what: 2}) || (header{kind: scan}).sameCall(header{kind: exscan}) ||
		(header{kind: scan, what: int(opSum)}).sameCall(header{kind: scan, what: int(opMax)}) {
		t.Error("different calls are the same")
	}
}

func TestNoticeSurvivesItsTag(t *testing.T) {
	for _, n := range []notice{{wrongArgument, scatter, 0}, {mismatch, allreduceLoc, 0}, {missing, barrier, missingBit - 1}, {missing, scan, 0}, {wrongArgument, barrier, 777}} {
		tag := n.tag()
		if tag&sched.Notice == 0 || tag > math.MaxInt32 || tag&(1<<seqBits-1) != 0 || parseNotice(tag) != n {
			t.Errorf("%+v has tag %d, which means %+v", n, tag, parseNotice(tag))
		}
	}
}

// FuzzParse: nothing that a peer sends as a tag breaks anything.
func FuzzParse(f *testing.F) {
	f.Add(int32(0))
	f.Add(int32(math.MaxInt32))
	f.Add(int32(header{kind: allreduce, what: 3}.tag()))
	f.Add(int32(notice{mismatch, bcast, 0}.tag()))
	f.Add(int32(notice{missing, bcast, 3}.tag()))
	f.Fuzz(func(t *testing.T, tag int32) {
		if tag < 0 {
			return
		}
		x := &call{n: 4, head: header{kind: barrier}}
		h := parse(int(tag))
		_ = h.String()
		if tag < sched.Notice && h.tag()|int(tag)&(1<<seqBits-1) != int(tag) {
			t.Errorf("%d means %+v, whose tag is %d", tag, h, h.tag())
		}
		if err := x.judge(1, int(tag), 8, 8, nil); err == nil || err.Error() == "" {
			t.Error("a message of another call is no error")
		}
	})
}
