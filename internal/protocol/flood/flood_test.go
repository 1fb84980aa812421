package flood

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

const all = 1 << 30 // no limit on the sends of a step

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// TestEveryDeathPattern takes every set of fewer than κ dead members for n up to 12
// and shows that the flood reaches all others without any notice of death. The dead
// do nothing at all, which is the worst they can do: a death in the middle of a
// broadcast lets more messages through (RR-9024, §2: "no more than k-1 dead nodes
// ... while the broadcast executes"; here k is κ, for any n, B8).
func TestEveryDeathPattern(t *testing.T) {
	patterns := 0
	for n := 1; n <= 12; n++ {
		connectivity := len(Neighbors(n, 0))
		for pattern := range uint(1) << n {
			if pattern&1 != 0 || bits.OnesCount(pattern) >= max(connectivity, 1) {
				continue // member 0 publishes; by symmetry it can be 0
			}
			patterns++
			w := newNet(n, 1)
			for m := range n {
				if pattern>>m&1 == 1 {
					w.alive.Remove(m)
				}
			}
			w.step(0, Publish{Items: rankset.Of(0)}, all)
			w.drain(seeded(uint64(pattern)))
			if err := w.disagreement(); err != nil {
				t.Fatalf("n = %d: %v", n, err)
			}
		}
	}
	t.Logf("%d patterns", patterns)
}

// TestBoundIsTight shows that doc.go does not promise too little: κ deaths can cut a
// flood, and the notices of these deaths complete it (B3).
func TestBoundIsTight(t *testing.T) {
	cuts := 0
	for n := 2; n <= 70; n++ {
		w := newNet(n, 1)
		for _, m := range Neighbors(n, 0) {
			w.alive.Remove(m)
		}
		w.step(0, Publish{Items: rankset.Of(0)}, all)
		w.drain(seeded(uint64(n)))
		if w.alive.Len() == 1 {
			continue // the graph is complete
		}
		cuts++
		if w.disagreement() == nil {
			t.Fatalf("n = %d: the deaths of all neighbours did not cut the flood", n)
		}
		for m := range w.alive.All() {
			for _, dead := range Neighbors(n, 0) {
				w.step(m, Failed{Rank: dead}, all)
			}
		}
		w.drain(seeded(uint64(n)))
		if err := w.disagreement(); err != nil {
			t.Fatalf("n = %d after the notices: %v", n, err)
		}
	}
	if cuts == 0 {
		t.Fatal("no graph could be cut")
	}
}

// TestRandomDeathsRepaired kills members at random, many in the middle of their sends, reports each
// death to each survivor at a separate moment, and lets messages overtake each other. When all is
// reported and delivered, all survivors have the same set (B3), every item was delivered once, and
// messages were bounded (B14).
func TestRandomDeathsRepaired(t *testing.T) {
	worst := 0.0
	for seed := range uint64(3000) {
		rng := seeded(seed)
		n := 1 + rng.IntN(24)
		if seed%100 == 0 {
			n = 70
		}
		w := newNet(n, 4)
		tellings := runDeaths(w, rng)
		if err := w.disagreement(); err != nil {
			t.Fatalf("seed %d, n = %d: %v", seed, n, err)
		}
		// Every growth is pushed to all targets: at most the neighbours and two more. Every notice
		// of death mends at most two. Every message is answered at most once, and an answer to an
		// answer needs a growth.
		targets := len(Neighbors(n, 0)) + 2
		pushesMax := w.delivers*targets + tellings*2
		answersMax := w.pushes + w.delivers*(n-1)
		if w.pushes > pushesMax || w.answers > answersMax {
			t.Fatalf("seed %d, n = %d: %d pushes (at most %d), %d answers (at most %d)",
				seed, n, w.pushes, pushesMax, w.answers, answersMax)
		}
		if w.delivers > 0 {
			worst = max(worst, float64(w.pushes+w.answers)/float64(w.delivers*targets))
		}
	}
	t.Logf("at most %.2f messages per growth and target", worst)
}

// runDeaths plays one run and returns the number of notices of death.
func runDeaths(w *net, rng *rand.Rand) int {
	n := len(w.members)
	type telling struct{ to, dead int }
	var untold []telling
	tellings := 0
	tell := func(i int) {
		x := untold[i]
		untold[i] = untold[len(untold)-1]
		untold = untold[:len(untold)-1]
		if w.alive.Has(x.to) {
			tellings++
			w.step(x.to, Failed{Rank: x.dead}, all)
		}
	}
	kill := func(m int) {
		w.alive.Remove(m)
		for to := range n {
			if to != m {
				untold = append(untold, telling{to, m})
			}
		}
	}
	for range 6 * n {
		m := rng.IntN(n)
		switch choice := rng.IntN(10); {
		case choice == 0 && w.alive.Has(m):
			w.step(m, Publish{Items: rankset.Of(rng.IntN(4))}, all)
		case choice == 1 && w.alive.Has(m) && w.alive.Len() > 1:
			w.step(m, Publish{Items: rankset.Of(rng.IntN(4))}, rng.IntN(4))
			kill(m)
		case choice == 2 && len(untold) > 0:
			tell(rng.IntN(len(untold)))
		case choice == 3 && len(w.flight) > 0 && w.alive.Len() > 1:
			i := rng.IntN(len(w.flight))
			if to := w.flight[i].to; w.alive.Has(to) {
				w.deliverOne(i, rng.IntN(4))
				kill(to)
			}
		case len(w.flight) > 0:
			w.deliverOne(rng.IntN(len(w.flight)), all)
		}
	}
	for len(untold) > 0 {
		tell(rng.IntN(len(untold)))
		if len(w.flight) > 0 {
			w.deliverOne(rng.IntN(len(w.flight)), all)
		}
	}
	w.drain(rng)
	return tellings
}

// TestForwardOnce counts the messages of one item without deaths: each member sends to its
// neighbours, except the one that it has the item from (B3, B14; T5 of RR-9024 has no such
// condition and floods for ever).
func TestForwardOnce(t *testing.T) {
	for n := 1; n <= 70; n++ {
		w := newNet(n, 1)
		w.step(0, Publish{Items: rankset.Of(0)}, all)
		w.drain(seeded(uint64(n)))
		degree := len(Neighbors(n, 0))
		if want := n*degree - (n - 1); w.pushes != want || w.answers != 0 {
			t.Errorf("n = %d: %d pushes, %d answers, want %d and 0", n, w.pushes, w.answers, want)
		}
		if err := w.disagreement(); err != nil {
			t.Errorf("n = %d: %v", n, err)
		}
	}
}

// TestCompareRepairs gives two members any two sets; one Compare, at either, makes
// them equal, and none is needed when they are.
func TestCompareRepairs(t *testing.T) {
	for a := range uint64(8) {
		for b := range uint64(8) {
			w := newNet(2, 3)
			w.step(0, Publish{Items: rankset.FromWords([]uint64{a})}, 0)
			w.step(1, Publish{Items: rankset.FromWords([]uint64{b})}, 0)
			w.step(0, Compare{With: 1, Digest: w.members[1].Digest()}, all)
			if a == b && len(w.flight) > 0 {
				t.Errorf("equal sets %b were exchanged", a)
			}
			w.drain(seeded(a*8 + b))
			if err := w.disagreement(); err != nil {
				t.Errorf("sets %b and %b: %v", a, b, err)
			}
		}
	}
}

// TestMessagesAreOwned shows that the bytes of one Send share nothing with those of
// another, nor with the member.
func TestMessagesAreOwned(t *testing.T) {
	f := New(Config{N: 4, Me: 0, Items: 4})
	var msgs [][]byte
	for _, a := range f.Step(Publish{Items: rankset.Of(1)}) {
		switch a := a.(type) {
		case Send:
			msgs = append(msgs, a.Msg)
		case Deliver:
			a.Items.Add(3)
		}
	}
	clear(msgs[0])
	if got := wire.NewReader(msgs[1]).Set(4); !got.Equal(rankset.Of(1)) || f.Items().Has(3) {
		t.Errorf("second message %v, set %v, want {1}", got, f.Items())
	}
	mine := f.Items()
	mine.Add(2)
	if f.Items().Has(2) {
		t.Error("Items is the member's own storage")
	}
}

// FuzzReceive feeds any bytes: no panic, either an anomaly and no change, or the
// union with a set in range, after which the same bytes are old news.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add(wire.AppendSet(nil, rankset.Of(0, 9)))
	f.Add(wire.AppendSet(nil, rankset.Of(999)))
	f.Add(append(wire.AppendSet(nil, rankset.Of(5)), 0))
	f.Fuzz(func(t *testing.T, msg []byte) {
		m := New(Config{N: 16, Me: 3, Items: 1000})
		m.Step(Publish{Items: rankset.Of(2)})
		before := m.Items()
		anomalies, sends := 0, 0
		for _, a := range m.Step(Receive{From: 4, Msg: msg}) {
			switch a.(type) {
			case Anomaly:
				anomalies++
			case Send:
				sends++
			}
		}
		after := m.Items()
		if !before.SubsetOf(after) || after.Next(1000) >= 0 || sends > len(Neighbors(16, 3))+2 {
			t.Fatalf("from %v to %v with %d sends", before, after, sends)
		}
		if anomalies > 0 && (!after.Equal(before) || sends > 0) {
			t.Fatalf("an anomaly changed %v to %v, %d sends", before, after, sends)
		}
		for _, a := range m.Step(Receive{From: 4, Msg: msg}) {
			if d, ok := a.(Deliver); ok {
				t.Fatalf("%v delivered again", d.Items)
			}
		}
	})
}
