package flood

import (
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// TestNote: items that all members learn by other means are delivered once and sent to no member.
// They are part of the next set, and a member that missed them gets them by its digest.
func TestNote(t *testing.T) {
	f := New(Config{N: 5, Me: 0, Items: 10})
	actions := f.Step(Note{Items: rankset.Of(7)})
	if d, ok := actions[0].(Deliver); len(actions) != 1 || !ok || !d.Items.Equal(rankset.Of(7)) {
		t.Fatalf("a note makes %v", actions)
	}
	if again := f.Step(Note{Items: rankset.Of(7)}); len(again) != 0 {
		t.Errorf("the same note makes %v", again)
	}
	sends := 0
	for _, a := range f.Step(Publish{Items: rankset.Of(3)}) {
		if s, ok := a.(Send); ok {
			sends++
			if got := wire.NewReader(s.Msg).Set(10); !got.Equal(rankset.Of(3, 7)) {
				t.Errorf("sends %v to %d", got, s.To)
			}
		}
	}
	if sends != 4 {
		t.Errorf("%d sends of what it published, want 4", sends)
	}
	missed := New(Config{N: 5, Me: 1, Items: 10})
	reply := f.Step(Compare{With: 1, Digest: missed.Digest()})
	for _, a := range reply {
		missed.Step(Receive{From: 0, Msg: a.(Send).Msg})
	}
	if missed.Digest() != f.Digest() {
		t.Errorf("who was missed holds %v", missed.Items())
	}
}
