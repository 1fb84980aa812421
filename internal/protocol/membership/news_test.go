package membership

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/wire"
)

// TestNewsTreeFirst lets each member send one message a round, in the order of its actions. All
// members know an entry after log2 n rounds, rounded up (PARCO 2019, section 4.6).
func TestNewsTreeFirst(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 12, 33, 64, 100, 1024} {
		assert.Equal(t, bits.Len(uint(n-1)), newsRounds(n, n/3), "rounds until all of %d members know an entry of member %d", n, n/3)
	}
}

// newsRounds returns the number of rounds until all members have an entry that root publishes.
func newsRounds(n, root int) int {
	members := make([]news, n)
	for me := range members {
		members[me] = newNews(n, me)
	}
	members[root].publish([]Entry{Process(Died, 7)})
	sent := make([]int, n)
	for round := 0; ; round++ {
		if !slices.ContainsFunc(members, func(m news) bool { return len(m.lists[root]) == 0 }) {
			return round
		}
		type letter struct {
			from int
			send Send
		}
		var flight []letter
		for m := range members {
			if s, ok := nextSend(members[m].out, &sent[m]); ok {
				flight = append(flight, letter{m, s})
			}
		}
		for _, l := range flight {
			r := wire.NewReader(l.send.Msg[1:])
			members[l.send.To].hear(l.from, readNews(r, n).(newsMessage))
		}
	}
}

// nextSend returns the first message in actions[*at:], and moves *at behind it.
func nextSend(actions []Action, at *int) (s Send, ok bool) {
	for ; *at < len(actions) && !ok; *at++ {
		s, ok = actions[*at].(Send)
	}
	return s, ok
}
