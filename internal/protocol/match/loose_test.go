package match

import "testing"

// TestLoosely compares a receive that uses some bits of the tag with the definition.
func TestLoosely(t *testing.T) {
	const top = 1<<31 - 1
	tags := []int{0, 1, 2, 3, 5, 7, 8, 1 << 15, 1<<15 | 5, 1 << 30, top}
	for _, want := range tags {
		for _, ignore := range []int{0, 1, 7, top &^ 7, top} {
			for _, tag := range tags {
				if got := matches(Loosely(want, ignore), tag); got != (want&^ignore == tag&^ignore) {
					t.Errorf("a receive of %#x that ignores %#x takes %#x: %v", want, ignore, tag, got)
				}
			}
		}
	}
}

// TestLooseReceivesInOrder has two receives of one number take a peer's messages in order, for any
// other bits of their tags, beside receives of another number.
func TestLooseReceivesInOrder(t *testing.T) {
	m := New()
	m.Open(1, 2, true)
	number := func(n int) int { return Loosely(n, 0xff00) }
	second, first, again := &Recv{Ctx: 1, Tag: number(2)}, &Recv{Ctx: 1, Tag: number(1)}, &Recv{Ctx: 1, Tag: number(1)}
	for _, r := range []*Recv{second, first, again} {
		if m.Post(r) != nil {
			t.Fatal("a message out of nothing")
		}
	}
	for _, step := range []struct {
		tag  int
		want *Recv
	}{{0x0301, first}, {0x0102, second}, {0x0001, again}, {0x0001, nil}} {
		if got := m.Arrive(1, 0, step.tag); got != step.want {
			t.Errorf("tag %#x went to %p, want %p", step.tag, got, step.want)
		}
	}
}
