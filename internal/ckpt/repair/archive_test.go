package repair

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchive: a version may be restored if it was found or published, unless some process could
// not read it. All processes have the same knowledge once they have reported.
func TestArchive(t *testing.T) {
	var a, b Archive
	a.Found(Stored{Label{3, 1}, Published}, true)
	a.Found(Stored{Label{4, 2}, Published}, true)
	a.Found(Stored{Label{5, 7}, Published}, false)
	a.Found(Stored{Label{6, 1}, Damaged}, true)
	a.Found(Stored{Label{9, 1}, Unpublished}, true)
	a.Found(Stored{Label{9, 2}, Foreign}, true)
	b.Publishes(Label{10, 1})
	b.Spoiled(Label{4, 2})
	reports := make([]Report, 2)
	a.Fill(&reports[0])
	b.Fill(&reports[1])
	assert.EqualValues(t, 9, reports[0].Epoch, "no epoch comes twice, also of what is not restored")
	assert.EqualValues(t, 10, reports[1].Epoch)
	c := Config{}
	assert.Equal(t, Label{10, 1}, c.choose(reports).Label)
	assert.EqualValues(t, 11, c.choose(reports).Epoch)
	for _, x := range []*Archive{&a, &b} {
		x.Learn(reports)
		assert.ElementsMatch(t, []Label{{3, 1}, {10, 1}}, x.known)
		assert.Equal(t, []Label{{4, 2}}, x.bad)
		x.Spoiled(Label{10, 1})
	}
	a.Found(Stored{Label{4, 2}, Published}, true)
	assert.Equal(t, []Label{{3, 1}}, a.known, "also found again it is bad")
	a.Fill(&reports[0])
	assert.Equal(t, Label{3, 1}, c.choose(reports).Label, "one who could not read it is enough")
	high := Report{Epoch: 12}
	a.Fill(&high)
	assert.EqualValues(t, 12, high.Epoch)

	var fresh Archive
	fresh.Learn(nil)
	assert.True(t, fresh.Looks(0, Gather{}), "a job starts")
	assert.True(t, fresh.Looks(0, Gather{Known: true}), "a replacement")
	assert.False(t, fresh.Looks(1, Gather{}))
	assert.True(t, a.Looks(0, Gather{}), "nothing was agreed yet")
	assert.False(t, a.Looks(0, Gather{Known: true}))
}

// TestArchiveSays: no process requests a version while one is open, or if its files would come too
// late.
func TestArchiveSays(t *testing.T) {
	var a Archive
	for _, due := range []bool{false, true} {
		for _, last := range []bool{false, true} {
			assert.Equal(t, FilesWriting, a.Says(WritingStill, due, last))
			assert.Equal(t, FilesFailed, a.Says(WritingFailed, due, last))
			assert.Equal(t, FilesDone, a.Says(WritingDone, due, last))
			assert.Equal(t, due && !last, a.Says(WritingNothing, due, last) == FilesWanted)
		}
	}
	assert.Equal(t, FilesDone, a.Says(WritingNothing, false, false))
}

// TestSuperfluous: of random stores, the given number of the newest published versions stays, and
// so do newer and foreign ones; no others.
func TestSuperfluous(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for range 5000 {
		var there []Stored
		for epoch := range uint64(3) {
			for number := range uint64(4) {
				if rng.IntN(2) == 0 {
					there = append(there, Stored{Label{epoch + 1, number + 1}, StoredState(rng.IntN(4))})
				}
			}
		}
		rng.Shuffle(len(there), func(i, j int) { there[i], there[j] = there[j], there[i] })
		newest, keep := Label{1 + rng.Uint64N(3), 1 + rng.Uint64N(4)}, 1+rng.IntN(3)
		gone := Superfluous(there, newest, keep)
		for _, s := range there {
			newer := 0 // published, of those that are not newer than newest
			for _, o := range there {
				if o.State == Published && s.Label.Less(o.Label) && !newest.Less(o.Label) {
					newer++
				}
			}
			stays := newest.Less(s.Label) || s.State == Foreign || s.State == Published && newer < keep
			require.Equal(t, !stays, slices.Contains(gone, s.Label), "%v of %v, newest %v, keep %d", s, there, newest, keep)
		}
	}
}

// TestExamined: together all processes read all files, each of them once.
func TestExamined(t *testing.T) {
	for size := 1; size < 6; size++ {
		for files := range 12 {
			all := []int{}
			for rank := range size {
				all = slices.AppendSeq(all, Examined(rank, size, files))
			}
			slices.Sort(all)
			want := make([]int, files)
			for i := range want {
				want[i] = i
			}
			assert.Equal(t, want, all)
		}
	}
	for range Examined(0, 1, 5) {
		break // a caller that stops early gets no more files
	}
}

// TestReplays: the version after the restored one is made again, whichever attempt made it.
func TestReplays(t *testing.T) {
	assert.True(t, Replays(Label{1, 4}, Label{1, 5}))
	assert.True(t, Replays(Label{1, 4}, Label{3, 5}))
	assert.False(t, Replays(Label{1, 4}, Label{1, 6}))
	assert.False(t, Replays(Label{1, 4}, Label{1, 4}))
	assert.False(t, Replays(Label{2, 4}, Label{1, 5}), "an older one is not made again: others have gone on from it")
}

// TestReportsStay: a process that learns more does not change its report, from which the plan is
// made.
func TestReportsStay(t *testing.T) {
	var a Archive
	a.Publishes(Label{3, 1})
	reports := make([]Report, 2)
	a.Fill(&reports[0])
	reports[1].Bad = []Label{{3, 1}}
	a.Learn(reports)
	assert.Equal(t, []Label{{3, 1}}, reports[0].Files)
	assert.Equal(t, FromNowhere, (&Config{}).choose(reports).Source)
}
