package job

import "slices"

// endSilent ends a process that the ring has found silent. If it has ended it is only now let
// known, so that the ring is what finds deaths. With Fence the members have declared it themselves:
// it may run on until it learns so, or until endFenced.
func (r *Rules) endSilent(ev Silent) {
	p := r.proc(ev.Proc)
	if p == nil || !p.Present || p.Silenced || p.Left || r.cfg.Fence && p.Declared {
		return
	}
	p.Silenced = true
	switch {
	case r.cfg.Fence:
		r.do(Silenced{Proc: p.Number(), By: ev.By})
		r.find(Found{Proc: p.Number(), By: BySilence, AtNs: ev.AtNs})
		r.endFenced()
	case p.Declared:
		r.do(Declare{Proc: p.Number()})
	case !p.Reaped:
		r.do(Silenced{Proc: p.Number(), By: ev.By, Killed: true})
		r.do(Kill{p.Number()})
	}
}

// endLifeless ends a process that shows no life: it is killed, reaped, and declared like any
// other death, so nobody lives on who was declared dead. With Fence it is only declared.
func (r *Rules) endLifeless(ev NoLife) {
	p := r.proc(ev.Proc)
	if p == nil || !p.Present || p.Reaped || p.Declared || p.Silenced {
		return
	}
	p.Silenced = true
	r.do(Silenced{Proc: p.Number(), By: -1, Killed: !r.cfg.Fence})
	if r.cfg.Fence {
		r.find(Found{Proc: p.Number(), By: BySilence, AtNs: ev.AtNs})
		r.endFenced()
		return
	}
	r.do(Kill{p.Number()})
}

// endFenced ends those that were declared dead and never went on, once nobody else is left. One
// that has gone on ends itself, and says so: the last one to finish may just have continued it.
func (r *Rules) endFenced() {
	waitedFor := func(p Process) bool { return p.Present && !p.Reaped && !p.Silenced }
	starting := func(b *batch) bool {
		return slices.ContainsFunc(r.procs[b.first:b.first+b.count], func(p Process) bool { return !p.Present && !b.missed })
	}
	if !r.cfg.Fence || slices.ContainsFunc(r.batches, starting) || slices.ContainsFunc(r.procs, waitedFor) {
		return
	}
	for _, p := range r.procs {
		if p.Present && !p.Reaped {
			r.do(EndFenced{p.Number()})
		}
	}
}
