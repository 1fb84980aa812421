package repair

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// history is the knowledge that all members of an attempt share, because it is a function of
// uniform outcomes: the losses and the commits. So a rule that reads nothing else gives the same
// result at all members. Replacements get the history by handover.
type history struct {
	attempt int      // of the body, from 1
	target  int      // size of the world when no rank is missing
	homes   []int    // homes[r] is the home of rank r; as long as the world is large
	lost    []int    // lost[r]: losses of rank r since the last progress
	saved   []uint64 // saved[r]: saves of the home of rank r when that number was last known
	fresh   []int    // ranks that have a new process since a Protect was agreed
	filled  []int    // ranks that have a new process since the attempt before
	repairs int      // since the last progress
	best    uint64   // greatest number that was ever committed or restored
	last    Label    // committed or restored
	sealed  bool     // a Protect was agreed: last is valid, whatever the memory names
	epoch   uint64   // of the newest agreed Protect: the homes of the dead may have versions of it
}

// handoverMax bounds the number of ranks in a handover.
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

// readHistory decodes the encoding of append for a world of size ranks, and returns an error for
// other bytes.
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

// progress records a version that was committed or restored. Only a number that was never reached
// before is progress: to reach a number again after a rollback is not.
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

// saves records the number of saves of each rank's home. If a home has saved since that number was
// last known, the losses of its rank no longer count, nor do the repairs: the rank is not lost at
// the same point again.
func (h *history) saves(counts []uint64) {
	for r, n := range counts {
		if r < len(h.saved) && n > h.saved[r] {
			h.saved[r], h.lost[r], h.repairs = n, 0, 0
		}
	}
}

// close renumbers the ranks: the world keeps only the given former ranks, in their order.
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

// grow adds ranks with the least homes that no rank has.
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
