package match

import (
	"slices"
	"testing"
)

// TestPurge: of the messages held for a communicator only those of its members
// stay, in their order.
func TestPurge(t *testing.T) {
	m := New()
	m.Reserve(4)
	for i, src := range []int{0, 2, 1, 2, 0} {
		msg := m.Message()
		msg.Ctx, msg.Src, msg.Tag = 4, src, i
		m.Keep(msg)
	}
	m.Open(4, 3, false)
	var gone []int
	m.Purge(4, func(src int) bool { return src != 2 }, func(msg *Message) { gone = append(gone, msg.Tag) })
	if !slices.Equal(gone, []int{1, 3}) {
		t.Errorf("dropped %v", gone)
	}
	var left []int
	for m.Probe(4, Any, Any) != nil {
		msg := m.Post(&Recv{Ctx: 4, Src: Any, Tag: Any})
		left = append(left, msg.Tag)
		m.Recycle(msg)
	}
	if !slices.Equal(left, []int{0, 2, 4}) {
		t.Errorf("left %v", left)
	}
	if n, _ := m.Buffered(); n != 0 {
		t.Errorf("%d messages are counted", n)
	}
}
