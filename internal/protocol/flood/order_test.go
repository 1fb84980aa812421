package flood

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestTreeFirst lets each member send one message a round, in the order of its actions. All
// members know after log2 n rounds, rounded up, which no order can beat. In ascending order of
// ranks 64 members need 15 rounds instead of 6.
func TestTreeFirst(t *testing.T) {
	for n := 1; n <= 300; n++ {
		for _, root := range []int{0, n / 3, n - 1} {
			assert.Equal(t, bits.Len(uint(n-1)), rounds(n, root), "rounds until all of %d members know an item of member %d", n, root)
		}
	}
	assert.Equal(t, 11, rounds(2048, 5))
}

// rounds returns the number of rounds until all members have an item that root publishes.
func rounds(n, root int) int {
	w := newNet(n, 1)
	queues := make([][]letter, n)
	collect := func() {
		for _, l := range w.flight {
			queues[l.from] = append(queues[l.from], l)
		}
		w.flight = w.flight[:0]
	}
	w.step(root, Publish{Items: rankset.Of(0)}, all)
	collect()
	for round := 0; ; round++ {
		if !slices.ContainsFunc(w.members, func(f *Flood) bool { return f.have.IsEmpty() }) {
			return round
		}
		var sent []letter
		for m := range queues {
			if len(queues[m]) > 0 {
				sent = append(sent, queues[m][0])
				queues[m] = queues[m][1:]
			}
		}
		for _, l := range sent {
			w.step(l.to, Receive{From: l.from, Msg: l.msg}, all)
		}
		collect()
	}
}

// TestOrderKeepsTargets: every target occurs once, and the argument stays as it was.
func TestOrderKeepsTargets(t *testing.T) {
	for n := 2; n <= 70; n++ {
		for from := range n {
			targets := Neighbors(n, 1)
			got := Order(n, 1, from, targets)
			assert.Equal(t, Neighbors(n, 1), targets)
			assert.ElementsMatch(t, targets, got)
		}
	}
}

// TestOrder has the order of a publisher, of receivers over a step up and down, and of targets that
// became nearest neighbours after deaths.
func TestOrder(t *testing.T) {
	all := Neighbors(12, 0)
	assert.Equal(t, []int{1, 2, 4, 8, 11, 10}, Order(12, 0, 0, all))
	assert.Equal(t, []int{4, 8, 1, 11, 2, 10}, Order(12, 0, 10, all), "from 10, over 2 upwards")
	assert.Equal(t, []int{10, 1, 11, 2, 4, 8}, Order(12, 0, 1, all), "from 1, over 1 downwards")
	assert.Equal(t, []int{1, 2, 4, 8, 3, 9}, Order(12, 0, 0, []int{1, 2, 3, 4, 8, 9}))
}
