package collectives

import (
	"math"
	"testing"
)

// TestHeaderSurvivesItsTag over every kind and the limits of each field.
func TestHeaderSurvivesItsTag(t *testing.T) {
	for k := barrier; int(k) < len(names); k++ {
		for _, what := range []int{0, 1, 500, 1<<whatBits - 1} {
			for _, seq := range []uint32{0, 1, 12345, 1<<seqBits - 1} {
				h := header{kind: k, what: what, seq: seq}
				tag := h.tag()
				if tag < 0 || tag > math.MaxInt32 || parse(tag) != h {
					t.Errorf("%+v has tag %d, which means %+v", h, tag, parse(tag))
				}
				h.note = true
				if n := parse(h.tag()); !n.note || n.seq != seq || h.tag() == tag || h.tag() > math.MaxInt32 {
					t.Errorf("notice of %+v has tag %d, which means %+v", h, h.tag(), n)
				}
			}
		}
	}
	if len(names) > 1<<kindBits {
		t.Errorf("%d kinds in %d bits", len(names), kindBits)
	}
}

func TestNoticeSurvivesItsBytes(t *testing.T) {
	for _, n := range []notice{{wrongArgument, scatter, 0}, {mismatch, alltoall, 1<<31 - 1}, {wrongArgument, barrier, 70_000}} {
		if b := n.append(nil); len(b) != noticeBytes || parseNotice(b) != n {
			t.Errorf("%+v became %+v", n, parseNotice(b))
		}
	}
	for l := range noticeBytes {
		if n := parseNotice(make([]byte, l)); n.cause != mismatch {
			t.Errorf("%d bytes gave %+v", l, n)
		}
	}
}

// TestNewer: a number is newer than those up to ahead-1 before it, also across
// the wrap, and never newer than itself.
func TestNewer(t *testing.T) {
	const last = 1<<seqBits - 1
	for _, c := range []struct {
		a, b uint32
		want bool
	}{
		{5, 5, false}, {6, 5, true}, {5, 6, false}, {0, last, true}, {last, 0, false},
		{5 + ahead - 1, 5, true}, {5 + ahead, 5, false}, {ahead - 2, last, true},
	} {
		if got := newer(c.a, c.b); got != c.want {
			t.Errorf("newer(%d, %d) = %v", c.a, c.b, got)
		}
	}
}

// FuzzParse: nothing that a peer sends as a tag or as a notice breaks anything.
func FuzzParse(f *testing.F) {
	f.Add(int32(0), []byte{})
	f.Add(int32(math.MaxInt32), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(int32(header{kind: allreduce, what: 3, seq: 9}.tag()), notice{mismatch, bcast, 3}.append(nil))
	f.Fuzz(func(t *testing.T, tag int32, b []byte) {
		if tag >= 0 {
			h := parse(int(tag))
			_ = h.String()
			if !h.note && h.tag() != int(tag) {
				t.Errorf("%d means %+v, whose tag is %d", tag, h, h.tag())
			}
		}
		x := &call{n: 4, head: header{kind: barrier}}
		if err := x.told(1, parseNotice(b)); err == nil || err.Error() == "" {
			t.Error("a notice is no error")
		}
	})
}
