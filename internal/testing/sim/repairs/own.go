package repairs

import (
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// saving is the saved data of a home outside of versions.
type saving struct {
	home  int
	count uint64
}

// Messages of savings, in addition to those that all ranks move in one order.
const (
	savingMessage = "saving"
	answerMessage = "answer"
)

func (w *driver) putOwn(s saving) {
	if w.store.own == nil {
		w.store.own = map[int]uint64{}
	}
	w.store.own[s.home] = s.count
}

// saveOwn saves once more: a message to each keeper, and its answer.
func (w *driver) saveOwn(then func()) {
	a := w.att
	home := a.run.Home
	a.own++
	w.ever = a.own
	next := saving{home, a.own}
	w.putOwn(next)
	if w.home != nil {
		if a.canceled {
			w.returnedUnlessGone()
			return
		}
		w.home.own = next.count
	}
	keepers := a.keepers().Keepers(a.run.Rank)
	for _, k := range keepers {
		if a.canceled || !w.send(a.base, k, messageKey{what: savingMessage, op: int(next.count)}, next) {
			w.returnedUnlessGone()
			return
		}
	}
	var wait func(i int)
	wait = func(i int) {
		if i == len(keepers) {
			w.run.report.Saves++
			w.run.check.saved(w, next)
			then()
			return
		}
		w.await(a.base, messageKey{what: answerMessage, op: int(next.count), from: keepers[i]}, func(_ any, ok bool) {
			if !ok {
				w.returnedUnlessGone()
				return
			}
			wait(i + 1)
		})
	}
	wait(0)
}

func (w *driver) returnedUnlessGone() {
	if !w.gone {
		w.returned(repair.Again)
	}
}

// beginKeeping accepts the savings of others from now on, and drops those that are not needed.
func (w *driver) beginKeeping() {
	a := w.att
	a.own = w.store.own[a.run.Home]
	needed := rankset.Of(a.run.Home)
	homes := a.homes()
	for owner := range a.keepers().KeptBy(a.run.Rank).All() {
		needed.Add(homes[owner])
	}
	for home := range repairHomesMax {
		if !needed.Has(home) {
			delete(w.store.own, home)
		}
	}
	a.served = true
	w.keepSavings()
}

// keepSavings stores the savings that have arrived, and answers.
func (w *driver) keepSavings() {
	a := w.att
	if a == nil || !a.served {
		return
	}
	l := a.base
	for owner := range l.members {
		for count := w.lastKept(owner) + 1; ; count++ {
			key := messageKey{what: savingMessage, op: int(count), from: owner}
			x, has := l.inbox[key]
			if !has {
				break
			}
			delete(l.inbox, key)
			w.putOwn(x.(saving))
			if !w.send(l, owner, messageKey{what: answerMessage, op: int(count)}, true) {
				break
			}
		}
	}
}

func (w *driver) lastKept(owner int) uint64 { return w.store.own[w.att.homes()[owner]] }

// homes returns the homes of the ranks.
func (a *attempt) homes() []int { return a.reported }
