package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

func (w *driver) gather(g repair.Gather) {
	w.busy = "gather"
	w.takeOver()
	mine := repair.Report{Node: w.node, Home: w.att.run.Home, Epoch: g.Epoch, Committed: g.Committed, Known: g.Known, Held: w.store.held(), Own: w.store.owned()}
	if w.home != nil && !g.Known {
		mine.Committed = w.home.committed
	}
	if w.desk.archive.Looks(w.att.run.Rank, g) {
		w.desk.look()
	}
	w.desk.archive.Fill(&mine)
	w.exchange(w.att.base, "report", mine, func(all []any) {
		var reports []repair.Report
		w.alone = w.run.setup.keeps == keepsAlone && onOneNode(w.att.nodes())
		for _, x := range all {
			reports = append(reports, x.(repair.Report))
			w.att.reported = append(w.att.reported, x.(repair.Report).Home)
		}
		w.desk.archive.Learn(reports)
		w.answer(repair.Gathered{Reports: reports})
	})
}

// tell finds the text of the lowest rank that has one.
func (w *driver) tell(text string) {
	w.busy = "tell"
	w.exchange(w.base, "text", text, func(all []any) {
		for rank, x := range all {
			if x.(string) != "" {
				w.answer(repair.Told{Rank: rank, Text: x.(string)})
				return
			}
		}
		w.answer(repair.Told{Rank: -1})
	})
}

// A move brings an item from one rank to another.
type move struct {
	from, to int
	give     func() any // nil: the item is missing
	take     func(any)
}

// moveAll makes moves, all ranks in one order, so that no ranks wait for each other in a circle.
func (w *driver) moveAll(moves []move, then func(ok bool)) {
	l := w.att.base
	l.ops++
	op := l.ops
	var next func(i int)
	next = func(i int) {
		for ; i < len(moves); i++ {
			m := moves[i]
			key := messageKey{what: "move", op: op, step: i}
			switch me := l.group.Me; {
			case m.from == me && m.to == me:
				m.take(m.give())
			case m.from == me:
				what := m.give()
				if what == nil || !w.send(l, m.to, key, what) {
					then(false)
					return
				}
			case m.to == me:
				key.from = m.from
				w.await(l, key, func(what any, ok bool) {
					if !ok {
						then(false)
						return
					}
					m.take(what)
					next(i + 1)
				})
				return
			}
		}
		then(true)
	}
	next(0)
}

func (w *driver) moveOf(v *kept, s redundancy.Send) move {
	return move{s.From, s.To, func() any {
		if p, has := v.parts[s.Owner]; has {
			return p
		}
		return nil
	}, func(x any) { w.put(v, s.Owner, x.(keptPart)) }}
}

// put stores a part that has arrived.
func (w *driver) put(v *kept, owner int, p keptPart) {
	w.run.check.part(w, p, v.label, owner)
	v.parts[owner] = p
}

// encoding returns the moves by which a member of a group gets its share of the parity.
func (w *driver) encoding(v *kept, g redundancy.Group, to int) (moves []move) {
	nodes := w.att.nodes()
	made := keptShare{nodes: nodes, rank: to, of: map[int]keptPart{}}
	for _, from := range g.Members {
		moves = append(moves, move{from, to, func() any {
			if p, has := v.parts[from]; has {
				return p
			}
			return nil
		}, func(x any) {
			made.of[from] = x.(keptPart)
			if len(made.of) == len(g.Members) {
				v.shares = append(v.shares, made)
			}
		}})
	}
	return moves
}

// rebuilding returns the moves by which a part without any copy is rebuilt.
func (w *driver) rebuilding(v *kept, x redundancy.Rebuild, placed []int) (moves []move) {
	for _, s := range x.Data {
		moves = append(moves, move{s.From, x.To, func() any { return v.parts[s.Owner] }, func(got any) { w.run.check.part(w, got.(keptPart), v.label, s.Owner) }})
	}
	for _, s := range x.Parity {
		moves = append(moves, move{s.From, x.To, func() any {
			i := slices.IndexFunc(v.shares, func(have keptShare) bool { return have.rank == s.Owner && slices.Equal(have.nodes, placed) })
			if i < 0 {
				return nil
			}
			return v.shares[i]
		}, func(got any) {
			w.run.report.Rebuilt++
			w.put(v, x.Owner, got.(keptShare).of[x.Owner])
		}})
	}
	return moves
}

// restore executes this worker's share of a plan.
func (w *driver) restore(p repair.Plan) {
	w.busy = "restore"
	w.att.plan, w.expected = p, nil
	var moves []move
	if p.Source == repair.FromMemory {
		v := w.store.at(p.Label, p.MadeOn(w.att.nodes()))
		for _, s := range slices.Concat(p.Steps, p.Copies) {
			switch s := s.(type) {
			case redundancy.Send:
				moves = append(moves, w.moveOf(v, s))
			case redundancy.Rebuild:
				moves = append(moves, w.rebuilding(v, s, p.Nodes)...)
			case redundancy.Encode:
				moves = append(moves, w.encoding(v, s.Group, s.To)...)
			}
		}
	}
	moves = append(moves, w.restoringOwn(p)...)
	w.later(func() {
		w.desk.awaitPublished(p, func(ok bool) {
			if !ok || p.Source == repair.FromFiles && !w.desk.restore(p.Label) {
				w.revoke() // others wait for the items of this rank
				w.answer(repair.Restored{OK: false})
				return
			}
			w.moveAll(moves, func(ok bool) {
				if ok && !w.gone {
					w.keepRestored(p)
				}
				w.restored(ok && !w.att.canceled)
			})
		})
	})
}

// restored answers with the result of a restore.
func (w *driver) restored(ok bool) {
	a := w.att
	ev := repair.Restored{OK: ok}
	switch {
	case !ok:
	case a.plan.Source == repair.FromFiles:
		ev.Same, ev.Digest = true, w.desk.read.value
	case a.plan.Source == repair.FromMemory && a.plan.Size == a.run.Size:
		ev.Same, ev.Digest = true, w.store.find(a.plan.Label).parts[a.run.Rank].value
	}
	w.answer(ev)
}

// restoringOwn returns the moves of data outside of versions: to the rank that continues with a
// home, and to the keepers.
func (w *driver) restoringOwn(p repair.Plan) (moves []move) {
	if w.run.setup.saves == 0 {
		return nil
	}
	bring := func(from, to, home int) {
		if from != to {
			moves = append(moves, move{from, to, func() any { return saving{home, w.store.own[home]} }, func(x any) { w.putOwn(x.(saving)) }})
		}
	}
	for _, s := range p.Own {
		bring(s.From, s.To, s.Owner)
	}
	keepers := w.att.keepers()
	for owner, home := range w.att.homes() {
		for _, k := range keepers.Keepers(owner) {
			bring(owner, k, home)
		}
	}
	return moves
}

// copyPart stores this rank's part of a version, and sends the part to its keepers.
func (w *driver) copyPart(a repair.Copy) {
	w.busy = "copy"
	if a.Check {
		w.later(func() { w.copied(a, w.att.copied) })
		return
	}
	me := w.att.base.group.Me
	v := w.store.at(a.Label, w.att.nodes())
	v.parts[me] = newPart(a.Label, me, &w.att.body, w.stock)
	w.stock.Made(a.Label)
	w.run.check.makesAgain(w, v.parts[me])
	if !w.keepPart(a.Label, v.parts[me]) {
		return
	}
	var moves []move
	switch layout := w.att.plan.Layout.(type) {
	case redundancy.Mirror:
		for owner := range layout.Size() {
			for _, k := range layout.Keepers(owner) {
				moves = append(moves, w.moveOf(v, redundancy.Send{Owner: owner, From: owner, To: k}))
			}
		}
	case redundancy.Code:
		for _, g := range layout.Groups() {
			for _, to := range g.Members {
				if g.Parity > 0 {
					moves = append(moves, w.encoding(v, g, to)...)
				}
			}
		}
	}
	w.later(func() {
		w.moveAll(moves, func(ok bool) {
			w.compare(v)
			w.att.copied = ok && !w.differs
			w.copied(a, w.att.copied && !w.run.tape.Percent(w.run.setup.slow))
		})
	})
}

// copied answers with the result of a copy. Before the end of all (a.All) the file of the version
// is written first.
func (w *driver) copied(a repair.Copy, complete bool) {
	answer := func() {
		offer := w.run.setup.refills && w.run.check.hasRoom()
		w.answer(repair.Copied{Complete: complete, Same: true, Digest: w.att.value, Offer: offer, Files: w.desk.says(a.All)})
	}
	if a.All && w.run.setup.files.used && !w.gone {
		w.desk.writeNow(a.Label, answer)
		return
	}
	answer()
}

// settle drops the data that the present layout does not need, and the versions that were not
// restored.
func (w *driver) settle(l repair.Label) {
	w.run.check.remembers(w, l)
	w.expected = nil
	if w.run.setup.silent.verify {
		w.expected = w.store.replayOf(l, w.att.run.Size)
	}
	w.store.drop(func(other repair.Label) bool { return other != l })
	a := w.att
	v := w.store.find(l)
	needed, ok := a.plan.Needs(a.run)
	if !ok || v == nil {
		return
	}
	v.nodes = a.nodes()
	v.shares = slices.DeleteFunc(v.shares, func(s keptShare) bool { return !a.run.KeepsShare(s.rank, s.nodes, v.nodes) })
	for rank := range v.parts {
		if !needed.Has(rank) {
			delete(v.parts, rank)
		}
	}
}

// takeRestored gives the program its restored data. In a world of another size each rank gets all
// old parts from their servers, in place of a redistribution of elements.
func (w *driver) takeRestored(then func(ok bool)) {
	a := w.att
	switch a.plan.Source {
	case repair.FromMemory:
	case repair.FromFiles:
		w.desk.take()
		then(true)
		return
	default:
		w.stock.take(w, nil)
		then(true)
		return
	}
	v := w.store.find(a.plan.Label)
	if a.plan.Size == a.run.Size {
		p, has := v.parts[a.run.Rank]
		if !has {
			w.run.fail("V6", "process %d continues with version %v, and has no part of it", w.number, a.plan.Label)
			return
		}
		a.step, a.value, a.local = p.step, p.value, p.local
		w.stock.take(w, &p)
		then(true)
		return
	}
	var moves []move
	var dealt keptPart
	w.stock.Take()
	for owner, server := range a.plan.Servers {
		for to := range a.run.Size {
			moves = append(moves, move{server, to, func() any { return v.parts[owner] }, func(x any) {
				p := x.(keptPart)
				w.run.check.part(w, p, a.plan.Label, owner)
				w.run.check.dealt(w, p, a.plan.Size)
				a.step, a.value, dealt.forward = p.step, p.value, p.forward
			}})
		}
	}
	w.busy = "deal"
	w.moveAll(moves, func(ok bool) {
		w.busy = ""
		if ok && !w.gone {
			dealt.static = staticOf(a.run.Rank, a.run.Size)
			w.stock.take(w, &dealt)
		}
		then(ok)
	})
}

// nodes returns the nodes of the ranks.
func (a *attempt) nodes() (nodes []int) {
	for _, m := range a.base.members {
		nodes = append(nodes, m.node)
	}
	return nodes
}

// keepers returns the layout of the savings.
func (a *attempt) keepers() redundancy.Mirror {
	return redundancy.Partners(a.nodes(), a.plan.Layout.Strength())
}
