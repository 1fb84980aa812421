package repair

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/commitinterval"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// TestWordAgainstBallots: the Tally decoded from the AND of the words equals the one computed from
// all the ballots.
func TestWordAgainstBallots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50000 {
		word := ^uint64(0)
		want := Tally{Complete: true, AllStay: true, Finished: true, Interval: commitinterval.Longest}
		var commits, seals, finished bool
		digests := map[uint64]bool{}
		sayable := [][]Files{{FilesDone, FilesWriting, FilesFailed}, {FilesDone, FilesWanted}}[rng.IntN(2)]
		for range 1 + rng.IntN(4) {
			b := Ballot{
				Call: Call(rng.IntN(4)), Incomplete: rng.IntN(4) == 0, Fatal: rng.IntN(4) == 0, Stop: rng.IntN(4) == 0,
				Offer: rng.IntN(4) == 0, Files: sayable[rng.IntN(len(sayable))], Same: rng.IntN(2) == 0,
				Digest: uint64(rng.IntN(2)) * 0xABCDEF, Want: rng.IntN(40),
			}
			word &= b.Word()
			stays := b.Call == CallCommit || b.Call == CallSeal
			commits, seals = commits || b.Call == CallCommit, seals || b.Call == CallSeal
			finished = finished || b.Call == CallFinish
			want.Complete = want.Complete && !b.Incomplete
			want.AllStay = want.AllStay && stays
			want.SomeStay = want.SomeStay || stays
			want.Finished = want.Finished && b.Call == CallFinish
			want.Fatal = want.Fatal || b.Fatal
			want.Stop = want.Stop || b.Stop
			want.Offer = want.Offer || b.Offer
			want.Files = max(want.Files, b.Files)
			if b.Same {
				digests[b.Digest] = true
			}
			if b.Want > 0 {
				want.Interval = min(want.Interval, commitinterval.Decode(commitinterval.Encode(b.Want)))
			}
		}
		want.Mismatch = want.SomeStay && finished || commits && seals
		want.Replica = len(digests) > 1
		require.Equal(t, want, Read(word))
	}
}

// TestBitsOfTheTable: the bits are at the places where other implementations of the flag read them.
func TestBitsOfTheTable(t *testing.T) {
	all := ^uint64(0)
	assert.Equal(t, all&^(1<<4|1<<2|1<<29), Ballot{Call: CallCommit}.Word())
	assert.Equal(t, all&^(1<<4|1<<2|1<<30|1), Ballot{Call: CallSeal, Incomplete: true}.Word())
	assert.Equal(t, all&^(1<<1|1<<2|1<<5), Ballot{Call: CallLeave, Fatal: true}.Word())
	assert.Equal(t, all&^(1<<1|1<<3), Ballot{Call: CallFinish}.Word())
	assert.Equal(t, all&^(1<<1|1<<2|1<<6|1<<7|1<<8), Ballot{Call: CallLeave, Stop: true, Offer: true, Files: FilesWriting}.Word())
	assert.Equal(t, all&^(1<<4|1<<2|1<<29|1<<31), Ballot{Call: CallCommit, Files: FilesWanted}.Word())
	assert.Equal(t, all&^(1<<4|1<<2|1<<29|1<<8|1<<31), Ballot{Call: CallCommit, Files: FilesFailed}.Word())
	assert.Equal(t, uint64(1), Ballot{Want: 1}.Word()>>32)
	assert.Equal(t, uint64(0x3ff), Ballot{Same: true, Digest: 0}.Word()>>19&0x3ff)
	assert.Equal(t, uint64(0), Ballot{Same: true, Digest: 0}.Word()>>9&0x3ff)
}

// TestDigestIsSalted: two states that have one digest at one version have different ones at
// most other versions, so that the next commit finds the difference.
func TestDigestIsSalted(t *testing.T) {
	bits := func(digest, number uint64) uint64 {
		w := World{label: Label{Epoch: 3, Number: number}, state: Copying}
		return w.Step(Copied{Complete: true, Same: true, Digest: digest})[0].(Agree).Word >> 9 & 0x3ff
	}
	rng := rand.New(rand.NewPCG(2, 2))
	pairs, missed := 0, 0
	for pairs < 200 {
		a, b := rng.Uint64(), rng.Uint64()
		if bits(a, 1) != bits(b, 1) {
			continue
		}
		pairs++ // equal by chance at version 1
		for number := uint64(2); number < 12; number++ {
			if bits(a, number) == bits(b, number) {
				missed++
			}
		}
	}
	assert.Less(t, missed, 20, "of 2000, some two of which are accidents again")
}

// TestRegrow: a world that is smaller than at its start leaves the attempt when processes
// are offered, although no member has died; a whole world does not.
func TestRegrow(t *testing.T) {
	offered := Decided{Word: Ballot{Call: CallCommit, Offer: true}.Word()}
	begin := []Event{Begin{}, Protect{}, Gathered{Reports: []Report{{}, {Home: 1}}}, Restored{OK: true}, Decided{Word: Ballot{Call: CallSeal}.Word()}, Commit{}, Copied{Complete: true}}
	small, whole := New(Config{Shortage: ShortageShrink}, 2, 0), New(Config{Shortage: ShortageShrink}, 2, 0)
	small.hist.target = 3
	for _, ev := range begin {
		small.Step(ev)
		whole.Step(ev)
	}
	assert.Equal(t, OK, whole.Step(offered)[1].(Return).Verdict)
	assert.Equal(t, []Action{Keep{Label{1, 1}}, Cancel{}, Return{Verdict: OverAgain, Label: Label{1, 1}}}, small.Step(offered))
	small.Step(Returned{Again})
	assert.Equal(t, []Action{Shrink{}}, small.Step(Quiet{Result: Again}))
	r := small.Step(Shrunk{Left: rankset.Of(0, 1)})[0].(Replace)
	assert.Equal(t, []int{2}, r.Ranks)
	assert.Equal(t, 3, r.Size)
	replacement, err := Adopt(Config{}, 3, 2, r.Handover)
	require.NoError(t, err)
	assert.Equal(t, []Action{Run{Attempt: 2, Size: 3, Rank: 2, Home: 2, Homes: []int{0, 1, 2}, Lost: []int{2}, Filled: []int{2}, Role: Recovered}}, replacement.Step(Begin{}))
}

// TestNewUntilProtected: a process stays new, and one of the first ranks initial, over attempts
// that end before a Protect was agreed. Its rank stays among the lost ones until then, and no
// longer.
func TestNewUntilProtected(t *testing.T) {
	w := New(Config{}, 3, 1)
	begun := w.Step(Begin{})[0].(Run)
	assert.Equal(t, Initial, begun.Role)
	assert.Empty(t, begun.Lost)
	next := func(w *World, lost int) (Replace, Run) { // a rank dies before Protect is agreed
		w.Step(Returned{Again})
		w.Step(Quiet{Result: Again})
		w.Step(Decided{Word: Ballot{Call: CallLeave}.Word(), Dead: rankset.Of(lost)})
		left := rankset.Range(0, 3)
		left.Remove(lost)
		asked := w.Step(Shrunk{Left: left})[0].(Replace)
		return asked, w.Step(Filled{})[0].(Run)
	}
	asked, begun := next(w, 0)
	assert.Equal(t, []int{0}, asked.Ranks)
	assert.Equal(t, Initial, begun.Role)
	assert.Equal(t, []int{0}, begun.Lost)

	replacement, err := Adopt(Config{}, 3, 0, asked.Handover)
	require.NoError(t, err)
	assert.Equal(t, Recovered, replacement.Step(Begin{})[0].(Run).Role)
	asked, begun = next(replacement, 2)
	assert.Equal(t, []int{2}, asked.Ranks, "rank 0 has a process")
	assert.Equal(t, Recovered, begun.Role)
	assert.Equal(t, []int{0, 2}, begun.Lost)
	assert.Equal(t, []int{2}, begun.Filled)

	for _, ev := range []Event{Protect{}, Gathered{Reports: []Report{{}, {Home: 1}, {Home: 2}}}, Restored{OK: true}, Decided{Word: Ballot{Call: CallSeal}.Word()}} {
		replacement.Step(ev)
	}
	_, begun = next(replacement, 1)
	assert.Equal(t, Survivor, begun.Role)
	assert.Equal(t, []int{1}, begun.Lost)
}

// TestReplica: replicated data differ. Nothing is committed, all members learn of it, the version
// is not used, and the next one may be good.
func TestReplica(t *testing.T) {
	w := New(Config{}, 2, 0)
	w.Step(Begin{})
	w.Step(Protect{})
	w.Step(Gathered{Reports: []Report{{}, {Home: 1}}})
	w.Step(Restored{OK: true})
	w.Step(Decided{Word: Ballot{Call: CallSeal}.Word()})
	w.Step(Commit{})
	w.Step(Copied{Complete: true, Same: true, Digest: 5})
	word := Ballot{Call: CallCommit, Same: true, Digest: 5}.Word() & Ballot{Call: CallCommit, Same: true, Digest: 6}.Word()
	assert.Equal(t, []Action{Drop{Label{1, 1}}, Return{Verdict: BadReplica}}, w.Step(Decided{Word: word}))
	w.Step(Commit{})
	w.Step(Copied{Complete: true})
	assert.Equal(t, []Action{Keep{Label{1, 1}}, Return{Verdict: OK, Label: Label{1, 1}}}, w.Step(Decided{Word: Ballot{Call: CallCommit}.Word()}))
}

// TestSkip: a Commit that is not due costs no allocation, and is counted like any other.
func TestSkip(t *testing.T) {
	w := New(Config{Every: 1000000}, 1, 0)
	w.Step(Begin{})
	assert.Zero(t, testing.AllocsPerRun(100, func() { assert.True(t, w.Skip()) }))
	w = New(Config{Every: 3}, 1, 0)
	w.Step(Begin{})
	assert.True(t, w.Skip())
	assert.Equal(t, []Action{Return{}}, w.Step(Commit{}))
	assert.False(t, w.Skip(), "the third point is due")
	assert.IsType(t, Copy{}, w.Step(Commit{})[0])
	assert.False(t, w.Skip(), "in a Commit")
}

// TestIncompleteVersion: a version that is not complete at a boundary is checked again at
// the next one, and Commit promises the version before.
func TestIncompleteVersion(t *testing.T) {
	w := New(Config{}, 1, 0)
	for _, ev := range []Event{Begin{}, Protect{}, Gathered{Reports: []Report{{}}}, Restored{OK: true}, Decided{Word: Ballot{Call: CallSeal}.Word()}, Commit{}, Copied{}} {
		w.Step(ev)
	}
	slow := Ballot{Call: CallCommit, Incomplete: true, Want: 1}.Word()
	assert.Equal(t, []Action{Return{Verdict: OK}}, w.Step(Decided{Word: slow}))
	assert.Equal(t, []Action{Copy{Label: Label{1, 1}, Check: true}}, w.Step(Commit{}))
	w.Step(Copied{Complete: true})
	assert.Equal(t, []Action{Keep{Label{1, 1}}, Return{Verdict: OK, Label: Label{1, 1}}}, w.Step(Decided{Word: Ballot{Call: CallCommit}.Word()}))
	assert.Equal(t, Label{1, 1}, w.hist.last)
}

// FuzzHandover: foreign bytes neither panic nor allocate more than their length allows, and a
// history that was read is written and read again unchanged.
func FuzzHandover(f *testing.F) {
	h := history{attempt: 3, target: 4, homes: []int{0, 2, 3}, lost: []int{1, 0, 0}, saved: []uint64{0, 7, 0}, fresh: []int{1}, repairs: 2, best: 9, last: Label{2, 9}, sealed: true}
	f.Add(h.append(nil), 3)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f}, 1)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		if size < 1 || size > 1<<20 {
			return
		}
		got, err := readHistory(b, size)
		if err != nil {
			return
		}
		again, err := readHistory(got.append(nil), size)
		require.NoError(t, err)
		require.Equal(t, got, again)
		w, err := Adopt(Config{}, size, 0, b)
		require.NoError(t, err)
		w.Step(Begin{})
	})
}

// TestSavesAreProgress: a rank that has saved data between its losses is in no crash loop.
func TestSavesAreProgress(t *testing.T) {
	lose := func(saves bool) State {
		w := New(Config{}, 2, 0)
		w.Step(Begin{})
		for i := range uint64(2 * Tries) {
			w.Step(Protect{})
			own := []Own{{Home: 1, Count: 1}}
			if saves {
				own[0].Count += i
			}
			w.Step(Gathered{Reports: []Report{{Own: own}, {Home: 1}}})
			w.Step(Restored{OK: true})
			w.Step(Decided{Word: Ballot{Call: CallSeal}.Word()})
			w.Step(Returned{Again})
			w.Step(Quiet{Result: Again})
			w.Step(Decided{Word: Ballot{Call: CallLeave}.Word(), Dead: rankset.Of(1)})
			if w.Step(Shrunk{Left: rankset.Of(0)}); w.State() == Over {
				break
			}
			w.Step(Filled{})
		}
		return w.State()
	}
	assert.Equal(t, Over, lose(false))
	assert.Equal(t, Computing, lose(true))
}

// TestReplicasAreComparedWhenRestored: a version whose replicated data were never compared is
// restored only if they are equal.
func TestReplicasAreComparedWhenRestored(t *testing.T) {
	for _, other := range []uint64{0x1234, 0x1235} {
		w := New(Config{}, 2, 0)
		w.Step(Begin{})
		w.Step(Protect{})
		held := []Held{{Label: Label{1, 3}, Nodes: []int{0, 0}, Data: rankset.Of(0, 1)}}
		w.Step(Gathered{Reports: []Report{{Held: held}, {Home: 1}}})
		mine := w.Step(Restored{OK: true, Same: true, Digest: 0x1234})[0].(Agree)
		theirs := Ballot{Call: CallSeal, Same: true, Digest: salted(other, Label{1, 3})}
		acts := w.Step(Decided{Word: mine.Word & theirs.Word()})
		if other == 0x1234 {
			assert.Contains(t, acts, Action(Return{Verdict: OK, Label: Label{1, 3}}))
			continue
		}
		assert.Equal(t, []Action{Drop{Label{1, 3}}, Cancel{}, Return{Verdict: OverAgain}}, acts)
	}
}

// TestLastVersionWithVerify: with Verify the last version before a stop is made where it is due,
// because its replay is made there.
func TestLastVersionWithVerify(t *testing.T) {
	for _, verify := range []bool{false, true} {
		w := New(Config{Every: 2, Verify: verify}, 1, 0)
		for _, ev := range []Event{Begin{}, Protect{}, Gathered{Reports: []Report{{}}}, Restored{OK: true}, Decided{Word: Ballot{Call: CallSeal}.Word()}, Commit{}, Commit{Stop: true}, Copied{Complete: true}} {
			w.Step(ev)
		}
		w.Step(Decided{Word: Ballot{Call: CallCommit, Stop: true}.Word()})
		assert.Equal(t, !verify, w.Due())
		assert.Equal(t, verify, w.Skip())
		assert.True(t, w.Due())
		assert.Equal(t, Copy{Label: Label{1, 2}, All: true}, w.Step(Commit{})[0])
	}
}

// TestVerifyGoesBackOne: with Verify the version right before the newest one is restored, not the
// remains of old versions.
func TestVerifyGoesBackOne(t *testing.T) {
	held := func(labels ...Label) []Report {
		r := Report{Committed: Label{3, 7}, Known: true}
		for _, l := range labels {
			r.Held = append(r.Held, Held{Label: l, Nodes: []int{0}, Data: rankset.Of(0)})
		}
		return []Report{r}
	}
	c := Config{Verify: true, Layout: func(nodes []int) redundancy.Layout { return redundancy.Partners(nodes, 1) }}
	assert.Equal(t, Label{3, 6}, c.choose(held(Label{1, 5}, Label{3, 6}, Label{3, 7})).Label)
	assert.Equal(t, Label{2, 6}, c.choose(held(Label{1, 5}, Label{2, 6}, Label{3, 7})).Label, "the first one of its epoch")
	assert.Equal(t, Label{3, 7}, c.choose(held(Label{1, 5}, Label{2, 7}, Label{3, 7})).Label)
}
