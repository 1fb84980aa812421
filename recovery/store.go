package recovery

import (
	"github.com/goulfm/goulfm/internal/rankset"
	"github.com/goulfm/goulfm/internal/redundancy"
	"github.com/goulfm/goulfm/internal/repair"
)

// copyPart stores this rank's part of a version, and gives it to its keepers.
func (r *runner) copyPart(a repair.Copy) repair.Event {
	w := r.w
	if a.Check { // it was not complete at once: a member could not be copied, or a transfer failed
		return repair.Copied{}
	}
	w.base.Mark("commit.copy", r.clock.count("copy"))
	p, err := w.save()
	if err != nil {
		w.bad = err
		return repair.Copied{}
	}
	r.mem.at(a.Label, w.nodes).parts[w.run.Rank] = p
	w.base.Mark("commit.send", r.clock.count("send"))
	digest, same := digestOfSame(w.members, p)
	return repair.Copied{Complete: r.exchange(a.Label, p), Same: same, Digest: digest, Unwritten: false}
}

// exchange gives the part to its keepers and takes those of others, all ranks in one order, so
// that nobody waits in a circle.
func (r *runner) exchange(l repair.Label, mine part) bool {
	w := r.w
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
				if sendPart(w.ctx, w.base, keeper, mine, static) != nil {
					return false
				}
			case keeper:
				var kept part
				if before != nil {
					kept = before.parts[owner]
				}
				p, err := receivePart(w.ctx, w.base, owner, len(w.members), kept, r.mem.room)
				if err != nil {
					return false
				}
				r.mem.at(l, w.nodes).parts[owner] = p
			}
		}
	}
	return true
}

// save copies the members. Those that are static are shared with the last version.
func (w *World) save() (part, error) {
	var before part
	if v := w.r.mem.find(w.r.last); v != nil {
		before = v.parts[w.run.Rank]
	}
	p := make(part, len(w.members))
	for i, m := range w.members {
		if before != nil && m.option.Static {
			p[i] = before[i]
			continue
		}
		n := 0
		if before != nil {
			n = len(before[i])
		}
		b, err := m.save(w.r.mem.room(n))
		if err != nil {
			return nil, err
		}
		p[i] = b
	}
	return p, nil
}

// restore does this process's part of a plan; the program gets its data once all agree.
func (r *runner) restore(p repair.Plan) bool {
	w := r.w
	w.plan, w.layout = p, p.Layout
	if p.Source != repair.FromMemory {
		return true
	}
	w.base.Mark("restore.move", r.clock.count("move"))
	v := r.mem.at(p.Label, w.nodes)
	for _, s := range append(append([]redundancy.Step(nil), p.Steps...), p.Copies...) {
		if move, ok := s.(redundancy.Send); ok && !r.move(v, move) {
			return false
		}
	}
	w.base.Mark("restore.done", r.clock.count("done"))
	return true
}

func (r *runner) move(v *version, s redundancy.Send) bool {
	w := r.w
	switch w.run.Rank {
	case s.From:
		return sendPart(w.ctx, w.base, s.To, v.parts[s.Owner], never) == nil
	case s.To:
		p, err := receivePart(w.ctx, w.base, s.From, len(w.members), nil, r.mem.room)
		if err != nil {
			return false
		}
		v.parts[s.Owner] = p
	}
	return true
}

// settle forgets what the present layout does not need, and the versions that were not restored.
func (r *runner) settle(l repair.Label) {
	w := r.w
	r.mem.drop(func(other repair.Label) bool { return other != l })
	layout, ok := w.layout.(redundancy.Mirror)
	if !ok || w.plan.Size != w.run.Size {
		return
	}
	needed := rankset.Of(w.run.Rank)
	needed.Union(layout.KeptBy(w.run.Rank))
	r.mem.settle(l, w.nodes, needed)
}
