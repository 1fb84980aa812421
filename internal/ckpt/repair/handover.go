package repair

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// history is what all members of an attempt know alike, because it is a function of
// outcomes that are uniform: who was lost, what was committed. So a rule that looks at
// nothing else comes to the same end at all of them. Replacements get it by handover.
type history struct {
	attempt int      // of the body, from 1
	target  int      // size that the world has when nothing is missing
	homes   []int    // homes[r] is the home of rank r; as long as the world is large
	lost    []int    // lost[r]: how often rank r was lost since the last progress
	saved   []uint64 // saved[r]: how often the home of rank r had saved when that was last known
	fresh   []int    // ranks that have a new process since a Protect was agreed
	filled  []int    // ranks that have a new process since the attempt before
	repairs int      // since the last progress
	best    uint64   // greatest number that was ever committed or restored
	last    Label    // committed or restored
	sealed  bool     // a Protect was agreed: last is the truth, whatever memory says
	epoch   uint64   // of the newest Protect that was agreed: the homes of the dead may have versions of that
}

// handoverMax bounds the ranks that a handover may have.
const handoverMax = rankset.RankMax

// append encodes h.
func (h *history) append(dst []byte) []byte {
	for _, v := range []uint64{uint64(h.attempt), uint64(h.target), uint64(h.repairs), h.best, h.last.Epoch, h.last.Number, h.epoch} {
		dst = wire.AppendUint(dst, v)
	}
	dst = wire.AppendBool(dst, h.sealed)
	for _, list := range [][]int{h.homes, h.lost, h.fresh, h.filled} {
		dst = wire.AppendUint(dst, uint64(len(list)))
		for _, v := range list {
			dst = wire.AppendUint(dst, uint64(v))
		}
	}
	for _, v := range h.saved {
		dst = wire.AppendUint(dst, v)
	}
	return dst
}

// readHistory reads what append wrote for a world of size ranks, and returns an error for other
// bytes.
func readHistory(b []byte, size int) (history, error) {
	r := wire.NewReader(b)
	h := history{attempt: r.Below(1 << 31), target: r.Below(handoverMax), repairs: r.Below(1 << 31), best: r.Uint()}
	h.last = Label{Epoch: r.Uint(), Number: r.Uint()}
	h.epoch = r.Uint()
	h.sealed = r.Bool()
	h.homes = readInts(r, handoverMax)
	h.lost = readInts(r, 1<<31)
	h.fresh, h.filled = readInts(r, size), readInts(r, size)
	for range h.homes {
		h.saved = append(h.saved, r.Uint())
	}
	if r.Err() == nil && (len(h.homes) != size || len(h.lost) != size || h.target < size) {
		return history{}, wire.ErrMalformed
	}
	return h, r.Done()
}

func readInts(r *wire.Reader, limit int) []int {
	n := r.Below(r.Left() + 1) // each has one byte or more
	list := make([]int, 0, n)
	for range n {
		list = append(list, r.Below(limit))
	}
	return list
}

// progress notes a version that was committed or restored. Only a number that was never reached
// before is progress: what a rollback has taken back is not.
func (h *history) progress(l Label) {
	h.last = l
	if l.Number > h.best {
		h.best = l.Number
		h.repairs = 0
		for r := range h.lost {
			h.lost[r] = 0
		}
	}
}

// saves notes what each rank's home has saved. If a home has saved something since that was last
// known, the losses of its rank no longer count, nor do the repairs: the rank is not lost at the
// same point again.
func (h *history) saves(counts []uint64) {
	for r, n := range counts {
		if r < len(h.saved) && n > h.saved[r] {
			h.saved[r], h.lost[r], h.repairs = n, 0, 0
		}
	}
}

// close renumbers: the world has only the given of its former ranks, in their order.
func (h *history) close(ranks []int) {
	homes, lost, saved := make([]int, len(ranks)), make([]int, len(ranks)), make([]uint64, len(ranks))
	var fresh []int
	for i, r := range ranks {
		homes[i], lost[i], saved[i] = h.homes[r], h.lost[r], h.saved[r]
		if slices.Contains(h.fresh, r) {
			fresh = append(fresh, i)
		}
	}
	h.homes, h.lost, h.saved, h.fresh = homes, lost, saved, fresh
}

// grow adds ranks with the least homes that nobody has.
func (h *history) grow(size int) {
	used := rankset.Of(h.homes...)
	for len(h.homes) < size {
		home := used.NextAbsent(0)
		used.Add(home)
		h.homes = append(h.homes, home)
		h.lost = append(h.lost, 0)
		h.saved = append(h.saved, 0)
	}
}

// clone returns a copy with storage of its own.
func (h *history) clone() history {
	c := *h
	c.homes = append([]int(nil), h.homes...)
	c.lost = append([]int(nil), h.lost...)
	c.saved = append([]uint64(nil), h.saved...)
	c.fresh = append([]int(nil), h.fresh...)
	c.filled = append([]int(nil), h.filled...)
	return c
}
