package fd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestFloodGoesRoundWhoLeft: 0 has to report the death of 5, and all its neighbours in the flood
// have left: 1, 2, 4, 6 and 7 of 8. Messages of a left process are dropped, so the flood is
// repaired as if they had died: 3 is informed at once, and the left processes receive nothing.
// Without the repair 3 would learn of the death from a digest, a heartbeat later.
func TestFloodGoesRoundWhoLeft(t *testing.T) {
	d := New(Config{N: 8, Me: 0, Mode: Ring})
	left := rankset.Of(1, 2, 4, 6, 7)
	for rank := range left.All() {
		d.Step(Left{Rank: rank})
	}
	var told rankset.Set
	for _, a := range d.Step(Exited{Rank: 5}) {
		if s, ok := a.(Send); ok && s.Msg[0] == kindNotice {
			told.Add(s.To)
		}
	}
	require.Equal(t, "{3}", told.String())
}

// TestLeftBeforeItCame: process 2 was absent, has come and has left, and process 0 learns of the
// departure first. Process 2 stays out of the flood: the notice of a death goes to the same
// processes as without it.
func TestLeftBeforeItCame(t *testing.T) {
	told := func(events ...Event) (told rankset.Set) {
		d := New(Config{N: 8, Me: 0, Mode: Ring})
		d.Step(Absent{Ranks: rankset.Of(2)})
		for _, ev := range events {
			d.Step(ev)
		}
		for _, a := range d.Step(Exited{Rank: 5}) {
			if s, ok := a.(Send); ok && s.Msg[0] == kindNotice {
				told.Add(s.To)
			}
		}
		return told
	}
	without := told()
	require.Equal(t, without.String(), told(Left{Rank: 2}, Came{Rank: 2}).String())
	require.True(t, told(Came{Rank: 2}).Has(2))
}
