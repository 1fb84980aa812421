package recovery

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// copyPart stores this rank's part of a version, and gives it to its keepers.
func (r *runner) copyPart(a repair.Copy) repair.Event {
	w := r.w
	if a.Check { // it was not complete at once: a member could not be copied, or a transfer failed
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

// exchange gives the part to its keepers and takes those of others, all ranks in one order, so
// that nobody waits in a circle.
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

// save copies the members. Those that are static are shared with the last version; those that are
// kept are not copied: they are the program's, until they are in the home.
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

// restored does this process's part of a plan, and says what came of it.
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

// restore does this process's part of a plan; the program gets its data once all agree.
func (r *runner) restore(p repair.Plan) bool {
	w := r.w
	w.plan, w.layout = p, p.Layout
	r.mem.expected = nil // of an attempt before
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

// restoreMemory brings the parts of a version to who goes on with them, and copies to their
// keepers.
func (r *runner) restoreMemory(p repair.Plan) bool {
	w := r.w
	v := r.mem.at(p.Label, madeOn(p, w.nodes))
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

// madeOn says of which placement the parts of a plan are. A version that a world of another size
// has made stays that world's until the next commit:
//
//	0        is alone after a shrink, and has made version 7 of one part
//	0, 1     1 is new and keeps a copy of it; 0 dies
//	2, 1     1 has all of version 7, unless it takes its copy for one of two parts
func madeOn(p repair.Plan, nodes []int) []int {
	if p.Size != len(nodes) {
		return p.Nodes
	}
	return nodes
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

// settle forgets what the present layout does not need, and the versions that were not restored.
func (r *runner) settle(l repair.Label) {
	w := r.w
	r.expect(l)
	r.mem.drop(func(other repair.Label) bool { return other != l })
	if w.plan.Size != w.run.Size {
		return
	}
	needed := rankset.Of(w.run.Rank)
	if layout, ok := w.layout.(redundancy.Mirror); ok {
		needed.Union(layout.KeptBy(w.run.Rank))
	}
	r.mem.settle(l, w.nodes, w.run.Rank, needed)
}
