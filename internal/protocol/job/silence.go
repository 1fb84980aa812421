package job

import "slices"

// endSilent ends a process that the ring has found silent. If the process has ended before, its
// death is declared only now, so that the ring detects the deaths. With Fence the members have
// declared it themselves: it may run until it learns so, or until endFenced.
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

// endLifeless ends a process that shows no life. The process is killed, reaped, and declared like
// any other death, so that no process survives its own declaration. With Fence it is only declared.
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

// endFenced ends the processes that were declared dead and never continued, once no other process
// is left. A process that has continued ends itself, and reports that: the last one to finish may
// just have continued it.
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
