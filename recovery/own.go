package recovery

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// Own says that a member is saved by World.Save alone, by each rank when it likes, and never goes
// back: after a repair each rank has what it has saved last, and who replaces it has that, too.
// What was never saved keeps the value that the body has set.
func Own() Option { return func(o *options) { o.Own = true } }

// A saving is what the process of a home has saved last: of each Own member the bytes, or nil.
type saving struct {
	count uint64 // of calls of Save
	part  part
}

// savings are those that a process has: its own, and copies that it keeps for others.
type savings struct {
	mu     sync.Mutex // keepers hear beside the body
	byHome map[int]saving
}

func (s *savings) get(home int) saving {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byHome[home]
}

func (s *savings) put(home int, what saving) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byHome == nil {
		s.byHome = map[int]saving{}
	}
	s.byHome[home] = what
}

// counts is for a report.
func (s *savings) counts() []repair.Own {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []repair.Own
	for home, what := range s.byHome {
		all = append(all, repair.Own{Home: home, Count: what.count})
	}
	slices.SortFunc(all, func(a, b repair.Own) int { return a.Home - b.Home })
	return all
}

// retain forgets all homes but the given.
func (s *savings) retain(homes rankset.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for home := range s.byHome {
		if !homes.Has(home) {
			delete(s.byHome, home)
		}
	}
}

// Save stores the present values of Own members with those who keep this rank's copies, and in the
// memory of its node where there is some; without names, of all. When it has returned nil they
// survive as data of a Commit do. The other ranks need not do anything: it takes a message and its
// answer. With an error the attempt is over; this rank, if it lives, goes on with these values all
// the same.
func (w *World) Save(ctx context.Context, names ...string) error {
	if w.members == nil {
		return fmt.Errorf("%w: Save before Protect", ErrMember)
	}
	next, changed, err := w.nextSaving(names)
	if err != nil {
		return err
	}
	w.r.own.put(w.run.Home, next)
	switch {
	case w.ctx.Err() != nil: // another rank has died: this one goes on with what it has done
		return context.Cause(w.ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if err := w.r.keepSaving(next); err != nil {
		return err
	}
	w.base.Mark("save.send", w.r.clock.count("save"))
	for _, keeper := range w.keepers.Keepers(w.Rank()) {
		if err := w.sendSaving(keeper, w.run.Home, next, func(i int) bool { return !changed[i] && next.part[i] != nil }); err != nil {
			return err
		}
	}
	for _, keeper := range w.keepers.Keepers(w.Rank()) {
		if err := w.awaitAnswer(keeper); err != nil {
			return err
		}
	}
	return nil
}

// nextSaving is the last one with the present values of some members.
func (w *World) nextSaving(names []string) (next saving, changed []bool, err error) {
	last := w.r.own.get(w.run.Home)
	next, changed = saving{last.count + 1, make(part, len(w.members))}, make([]bool, len(w.members))
	copy(next.part, last.part)
	found := 0
	for i, m := range w.members {
		if !m.option.Own || len(names) > 0 && !slices.Contains(names, m.name) {
			continue
		}
		found++
		changed[i] = true
		if next.part[i], err = m.save([]byte{}); err != nil {
			return next, nil, err
		}
	}
	if found == 0 || found < len(names) {
		return next, nil, fmt.Errorf("%w: Save(%q): not all are names of Own members", ErrMember, names)
	}
	return next, changed, nil
}

// keepForOthers takes what those save whose copies this rank keeps, until the attempt is freed:
// also when the body has returned, since others may not have.
func (w *World) keepForOthers() {
	for owner := range w.keepers.KeptBy(w.Rank()).All() {
		w.serving.Go(func() {
			for w.takeSaving(owner) == nil {
				continue
			}
		})
	}
}

func (w *World) takeSaving(owner int) error {
	if err := w.receiveSaving(w.service, owner); err != nil {
		return err
	}
	return w.answer(owner)
}

// restoreOwn brings savings to who goes on with their homes, and copies to their keepers. All ranks
// do so in one order, so that nobody waits in a circle.
func (w *World) restoreOwn(moves []redundancy.Send) error {
	for _, s := range moves {
		if s.From == s.To {
			continue
		}
		switch w.Rank() {
		case s.From:
			if err := w.sendSaving(s.To, s.Owner, w.r.own.get(s.Owner), never); err != nil {
				return err
			}
		case s.To:
			if err := w.receiveSaving(w.ctx, s.From); err != nil {
				return err
			}
		}
	}
	for owner := range w.Size() {
		for _, keeper := range w.keepers.Keepers(owner) {
			var err error
			switch w.Rank() {
			case owner:
				err = w.sendSaving(keeper, w.run.Home, w.r.own.get(w.run.Home), never)
			case keeper:
				err = w.receiveSaving(w.ctx, owner)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// takeOwn gives the Own members what was saved last.
func (w *World) takeOwn() error {
	saved := w.r.own.get(w.run.Home)
	for i, b := range saved.part {
		if b == nil {
			continue
		}
		if err := w.members[i].restore(b); err != nil {
			return err
		}
	}
	needed := rankset.Of(w.run.Home)
	for owner := range w.keepers.KeptBy(w.Rank()).All() {
		needed.Add(w.homes[owner])
	}
	w.r.own.retain(needed)
	return nil
}

// hasOwn says whether there is anything to save, alike at all ranks.
func (w *World) hasOwn() bool {
	return slices.ContainsFunc(w.members, func(m Member) bool { return m.option.Own })
}

// withOwn is a part with what this rank has saved: for a file.
func (w *World) withOwn(p part) part {
	saved := w.r.own.get(w.run.Home)
	all := slices.Clone(p)
	for i, b := range saved.part {
		if b != nil {
			all[i] = b
		}
	}
	return all
}

// adoptOwn makes what a file had of Own members the first saving, unless there is one already.
func (w *World) adoptOwn(p part) {
	if w.r.own.get(w.run.Home).count > 0 {
		return
	}
	first := saving{1, make(part, len(p))}
	for i, m := range w.members {
		if m.option.Own && len(p[i]) > 0 {
			first.part[i] = p[i]
		}
	}
	w.r.own.put(w.run.Home, first)
}
