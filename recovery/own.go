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

// Own declares that a member is saved by World.Save alone, by each rank at any time, and is never
// rolled back. After a repair each rank, or its replacement, has the data that the rank saved last.
// A member that was never saved keeps the value that the body has set. Own allows no other option:
// otherwise Protect returns ErrMember.
func Own() Option { return func(o *options) { o.Own = true } }

// A saving holds the last Save of the process of a home: for each Own member the bytes, or nil.
type saving struct {
	count uint64 // of calls of Save
	part  part
}

// savings are the savings that a process has: its own, and copies that it keeps for others.
type savings struct {
	mu     sync.Mutex // keepers receive in goroutines of their own
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

// retain forgets all homes except the given ones.
func (s *savings) retain(homes rankset.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for home := range s.byHome {
		if !homes.Has(home) {
			delete(s.byHome, home)
		}
	}
}

// Save stores the present values of the named Own members; without names, of all Own members. They
// go to the keepers of this rank's copies, and into the memory of its node if there is any. Once
// Save has returned nil the values are as safe as the data of a Commit. ErrMember is the error of a
// name that is no Own member, and of a call before Protect. The other ranks need not take part:
// Save exchanges one message and its answer with each keeper. With an error the attempt is over;
// this rank, if it lives, nevertheless continues with these values.
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
	case w.ctx.Err() != nil: // another rank has died: this rank continues with its own values
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

// nextSaving is the last saving updated with the present values of some members.
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

// keepForOthers receives the savings of the ranks whose copies this rank keeps, until the attempt
// is freed. That includes the time after the body has returned, since other bodies may still run.
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

// restoreOwn sends savings to the new owners of their homes, and copies to their keepers. All ranks
// make these transfers in one order, which excludes a cycle of waiting ranks.
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

// takeOwn gives the Own members the values that were saved last.
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

// hasOwn reports whether there are Own members. The result is equal at all ranks.
func (w *World) hasOwn() bool {
	return slices.ContainsFunc(w.members, func(m Member) bool { return m.option.Own })
}

// withOwn adds to a part the savings of this rank, for a file.
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

// adoptOwn makes the Own members of a file the first saving, unless there is a saving already.
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
