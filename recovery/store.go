package recovery

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// copyPart stores this rank's part of a version, and sends the part to its keepers.
func (r *runner) copyPart(a repair.Copy) repair.Event {
	w := r.w
	if a.Check { // the copy was not complete at once: a member could not be copied, or a transfer failed
		return repair.Copied{Files: r.files.says(a.All)}
	}
	w.base.Mark("commit.copy", r.clock.count("copy"))
	p, kept, err := w.save()
	if err != nil {
		w.bad = err
		w.revoke() // others wait for this part
		return repair.Copied{Files: r.files.says(a.All)}
	}
	if !r.keepPart(a.Label, p) {
		return repair.Copied{Files: r.files.says(a.All)}
	}
	r.mem.at(a.Label, w.nodes).put(w.run.Rank, p, kept)
	r.stock.Made(a.Label)
	w.base.Mark("commit.send", r.clock.count("send"))
	digest, same := digestOfSame(w.members, p)
	complete := r.exchange(a.Label, p)
	for rank, made := range r.mem.at(a.Label, w.nodes).parts {
		if err := r.compare(a.Label, rank, made); err != nil {
			w.bad, complete = err, false
		}
	}
	if a.All {
		r.writeNow(a.Label)
	}
	return repair.Copied{Complete: complete, Same: same, Digest: digest, Files: r.files.says(a.All)}
}

// exchange sends the part to its keepers and receives the parts that this rank keeps. All ranks
// make the transfers in one order, which excludes a cycle of waiting ranks.
func (r *runner) exchange(l repair.Label, mine part) bool {
	w := r.w
	if code, coded := w.layout.(redundancy.Code); coded {
		return w.coding(r.mem.find(l)).encodeAll(code) == nil
	}
	layout, ok := w.layout.(redundancy.Mirror)
	if !ok {
		return true
	}
	before := r.mem.find(r.last)
	static := func(i int) bool { return before != nil && w.members[i].option.Static }
	for owner := range w.base.Size() {
		for _, keeper := range layout.Keepers(owner) {
			switch w.run.Rank {
			case owner:
				if sendPart(w.ctx, w.base.To(keeper).Tag(transferTag), mine, static) != nil {
					return false
				}
			case keeper:
				var kept part
				if before != nil {
					kept = before.parts[owner]
				}
				p, err := receivePart(w.ctx, w.base.From(owner).Tag(transferTag), len(w.members), kept, r.mem.room)
				if err != nil {
					return false
				}
				r.mem.at(l, w.nodes).parts[owner] = p
			}
		}
	}
	return true
}

// save copies the members. Static members are shared with the last version. The members in kept are
// not copied: they are the program's slices, until they are in the home.
func (w *World) save() (p part, kept rankset.Set, err error) {
	var before part
	if v := w.r.mem.find(w.r.last); v != nil {
		before = v.parts[w.run.Rank]
	}
	p = make(part, len(w.members))
	for i, m := range w.members {
		if m.option.Own {
			continue
		}
		if w.r.alone && w.r.staysInHome(m, m.length()) {
			p[i] = m.bytes()
			kept.Add(i)
			if err := w.checkRows(m, len(p[i])); err != nil {
				return nil, kept, err
			}
			continue
		}
		if before != nil && m.option.Static {
			p[i] = before[i]
			continue
		}
		n := 0
		if before != nil {
			n = len(before[i])
		}
		b, err := m.save(w.r.mem.room(n))
		if err == nil {
			err = w.checkRows(m, len(b))
		}
		if err != nil {
			return nil, kept, err
		}
		p[i] = b
	}
	return p, kept, nil
}

// restored does this process's part of a plan, and returns the result.
func (r *runner) restored(p repair.Plan) repair.Event {
	w := r.w
	ev := repair.Restored{OK: r.restore(p)}
	switch {
	case !ev.OK:
	case p.Source == repair.FromFiles:
		ev.Digest, ev.Same = digestOfSame(w.members, w.loaded)
	case p.Source == repair.FromMemory && p.Size == w.run.Size:
		ev.Digest, ev.Same = digestOfSame(w.members, r.mem.find(p.Label).parts[w.run.Rank])
	}
	return ev
}

// restore does this process's part of a plan. The program gets its data once all ranks agree.
func (r *runner) restore(p repair.Plan) bool {
	w := r.w
	w.plan, w.layout = p, p.Layout
	r.mem.expected = nil // of an earlier attempt
	w.base.Mark("restore.move", r.clock.count("move"))
	ok := true
	switch p.Source {
	case repair.FromFiles:
		ok = r.restoreFiles(p)
	case repair.FromMemory:
		ok = r.restoreMemory(p)
	}
	if ok && w.hasOwn() {
		w.keepers = redundancy.Partners(w.nodes, p.Layout.Strength())
		ok = w.restoreOwn(p.Own) == nil
	}
	ok = ok && r.keepRestored(p)
	if !ok {
		w.revoke() // others wait for what this rank was to send them
	}
	w.base.Mark("restore.done", r.clock.count("done"))
	return ok
}

// restoreMemory moves the parts of a version to their new owners, and copies to their keepers.
func (r *runner) restoreMemory(p repair.Plan) bool {
	w := r.w
	v := r.mem.at(p.Label, p.MadeOn(w.nodes))
	if (len(p.Steps) > 0 || len(p.Copies) > 0 || p.Size != w.run.Size || v.owner != w.run.Rank) && r.load(v) != nil {
		return false
	}
	c := w.coding(v)
	for _, s := range slices.Concat(p.Steps, p.Copies) {
		var err error
		switch s := s.(type) {
		case redundancy.Send:
			err = r.move(v, s)
		case redundancy.Rebuild:
			err = c.rebuild(s, p.Nodes)
		case redundancy.Encode:
			err = c.encode(s.Group, s.To)
		}
		if err != nil {
			return false
		}
	}
	return true
}

// restoreFiles is restore from files.
func (r *runner) restoreFiles(p repair.Plan) bool {
	w := r.w
	if r.awaitPublished() != nil {
		return false
	}
	loaded, err := w.reload(p.Label)
	if err != nil {
		r.spoiled(p.Label, err)
		return false
	}
	w.loaded = loaded
	w.adoptOwn(loaded)
	return true
}

func (r *runner) move(v *version, s redundancy.Send) error {
	w := r.w
	switch w.run.Rank {
	case s.From:
		return sendPart(w.ctx, w.base.To(s.To).Tag(transferTag), v.parts[s.Owner], never)
	case s.To:
		p, err := receivePart(w.ctx, w.base.From(s.From).Tag(transferTag), len(w.members), nil, r.mem.room)
		if err != nil {
			return err
		}
		v.parts[s.Owner] = p
	}
	return nil
}

// settle forgets the parts that the present layout does not need, and the versions that were not
// restored.
func (r *runner) settle(l repair.Label) {
	w := r.w
	r.expect(l)
	r.mem.drop(func(other repair.Label) bool { return other != l })
	if needed, ok := w.plan.Needs(w.run); ok {
		r.mem.settle(l, w.nodes, w.run, needed)
	}
}
