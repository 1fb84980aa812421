package repairs

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
)

// driver carries out what the rules of the world say, as a rank does in package recovery
// (its run.go and attempt.go). What blocks there ends here with busy set, and goes on by answer.
type driver struct {
	*worker
	world   *repair.World
	base    *line // the newest communicator
	old     []*line
	ends    *line // a Finalize would close it: the world, or its successor
	att     *attempt
	todo    []repair.Action
	busy    string // what is awaited; "": nothing
	then    func() // when there is nothing to do any more
	reply   repair.Return
	next    *repair.Run
	outcome *repair.Outcome
	store   store
	desk    desk
	alone   bool           // no copies are sent: the memory of the one node is enough
	home    *keptHome      // in the memory of the node; nil: there is none
	taken   []*keptHome    // of ranks that are not on this node now, which this process has read
	dropped []repair.Label // not to be restored
	awaited *awaited
	ask     *asking
	given   int // number of the first process with which the launcher has answered last

	attempts   int
	rolledBack bool
	flipped    bool         // something has changed unseen
	expected   *kept        // what a replay has to come to
	differs    bool         // it has come to something else
	ever       uint64       // how often this process has saved
	promise    repair.Label // of a Commit that has returned nil here
	stock      stock
	settled    bool // a Protect was agreed
}

// attempt is one call of the body.
type attempt struct {
	run      repair.Run
	base     *line // of the library
	prog     *line // of the program; nil: it could not be made
	canceled bool
	heard    bool // that base is revoked
	number   int  // of boundaries so far
	giveUp   func()
	body
}

// awaited is a message that the driver waits for.
type awaited struct {
	on   *line
	key  messageKey
	then func(what any, ok bool)
}

// asking is a replacement of which this worker is the root.
type asking struct {
	token uint64
	what  repair.Replace
	on    *line
	until mono.Time
}

// openFirst begins one of the first ranks.
func (w *driver) openFirst() {
	w.open(control.Config{Uniform: true})
	w.base = w.comms[control.World]
	w.ends = w.base
	w.world = repair.New(w.config(), w.count, w.slot)
	w.later(func() { w.handle(repair.Begin{}, w.attempt) })
}

// openReplacement begins a worker that others have replaced somebody by.
func (w *driver) openReplacement(what invitation) {
	g := what.group
	g.Index = commstate.SpawnedIndex
	for rank, p := range g.Procs {
		if p == w.slot {
			g.Me = rank
		}
	}
	var err error
	if w.world, err = repair.Adopt(w.config(), g.Size(), g.Me, what.handover); err != nil {
		w.run.fail("assert", "process %d: %v", w.number, err)
		return
	}
	w.open(control.Config{Union: &g, UnionUniform: true})
	if w.gone {
		return
	}
	w.base, w.ends = w.comms[commstate.SpawnedIndex], w.comms[control.World]
	w.later(func() { w.handle(repair.Begin{}, w.attempt) })
}

// handle gives the rules an event and does what they say; then goes on when nothing is left to do.
func (w *driver) handle(ev repair.Event, then func()) {
	w.then = then
	w.apply(ev)
	w.work()
}

func (w *driver) apply(ev repair.Event) {
	w.run.traceEvent(w.worker, ev)
	w.todo = append(w.todo, w.world.Step(ev)...)
}

// answer is what a thing came to that the driver waited for.
func (w *driver) answer(ev repair.Event) {
	if w.gone {
		return
	}
	w.busy = ""
	w.apply(ev)
	w.work()
}

func (w *driver) work() {
	for len(w.todo) > 0 && w.busy == "" && !w.gone {
		a := w.todo[0]
		w.todo = w.todo[1:]
		if w.run.strikes(w.worker) {
			w.die()
			return
		}
		w.perform(a)
	}
	if len(w.todo) == 0 && w.busy == "" && !w.gone && w.then != nil {
		then := w.then
		w.then = nil
		then()
	}
}

func (w *driver) perform(a repair.Action) {
	switch a := a.(type) {
	case repair.Run:
		w.next = &a
	case repair.Gather:
		w.gather(a)
	case repair.Restore:
		w.restore(a.Plan)
	case repair.Copy:
		w.copyPart(a)
	case repair.Agree:
		w.agree(a.Word)
	case repair.Return:
		w.reply = a
	case repair.Keep:
		w.store.drop(func(l repair.Label) bool { return l.Less(a.Oldest) })
		w.agreed(a.Oldest)
	case repair.Settle:
		w.settle(a.Label)
	case repair.Drop:
		w.store.drop(func(l repair.Label) bool { return l == a.Label })
		w.desk.archive.Spoiled(a.Label)
		w.dropped = append(w.dropped, a.Label)
		if w.home != nil {
			w.home.forget(func(l repair.Label) bool { return l == a.Label })
		}
	case repair.Cancel:
		w.cancel()
	case repair.Revoke:
		w.revoke()
	case repair.Shrink:
		w.shrink()
	case repair.Replace:
		w.replace(a)
	case repair.Tell:
		w.tell(a.Text)
	case repair.End:
		w.outcome = &a.Outcome
	}
}

// attempt begins the next attempt, or ends the driver.
func (w *driver) attempt() {
	if w.outcome != nil {
		w.finish()
		return
	}
	before, run := w.att, *w.next
	w.next = nil
	w.att = &attempt{run: run, base: w.base}
	w.att.value, w.att.own = 1, w.store.own[run.Home]
	w.run.check.begins(w)
	w.busy = "dup"
	w.call(w.base, control.Propose{Call: commstate.Call{Kind: commstate.KindDup}}, func(out commstate.Outcome) {
		if out.New != nil {
			w.att.prog = w.adopt(*out.New)
		}
		w.later(func() {
			w.busy = ""
			w.begin(before)
		})
	})
}

// begin frees what the attempt before has had, and calls the body.
func (w *driver) begin(before *attempt) {
	if before != nil {
		w.free(before)
	}
	w.att.leaveWorld(w)
	w.freeOld()
	if w.att.base.revoked {
		w.heardRevocation(w.att.base)
	}
	if w.att.prog == nil {
		w.returned(repair.Again)
		return
	}
	w.later(w.protect)
}

// leaveWorld has the communicator of the attempt take the place of the one that a Finalize would
// close.
func (a *attempt) leaveWorld(w *driver) {
	if w.ends == a.base {
		return
	}
	w.step(control.Succeed{Comm: a.base.group.Index})
	w.old = append(w.old, w.ends)
	w.ends = a.base
}

// returned goes on where the body has returned: its goroutines end a while later.
func (w *driver) returned(result repair.Result) {
	w.handle(repair.Returned{Result: result}, func() {
		w.later(func() {
			w.desk.closeOpen() // what an attempt has begun ends with it
			quiet := repair.Quiet{Result: result}
			if result == repair.Fatal {
				quiet.Text = "an error of the body"
			}
			w.handle(quiet, w.attempt)
		})
	})
}

// finish ends the driver. The control rules go on: others may still need them.
func (w *driver) finish() {
	w.free(w.att)
	w.old = append(w.old, w.base)
	w.freeOld()
}

func (w *driver) free(a *attempt) {
	if a.prog != nil {
		w.old = append(w.old, a.prog)
	}
	w.old = append(w.old, a.base)
	a.served = false
}

// freeOld frees communicators that are not needed any more, but for the world, and the newest one
// until the end.
func (w *driver) freeOld() {
	freed := map[*line]bool{}
	var kept []*line
	for _, l := range w.old {
		switch {
		case l == w.ends || freed[l]:
		case l == w.base && w.outcome == nil:
			kept = append(kept, l)
		default:
			freed[l] = true
			w.call(l, control.Propose{Call: commstate.Call{Kind: commstate.KindClose}}, nil)
		}
	}
	w.old = kept
}

// heardRevocation is what follows from a revocation: what waits on the communicator ends, and the
// rules hear of that of the attempt.
func (w *driver) heardRevocation(l *line) {
	if a := w.awaited; a != nil && a.on == l {
		w.later(func() {
			if w.awaited == a {
				w.awaited = nil
				a.then(nil, false)
			}
		})
	}
	if w.att != nil && l == w.att.base && !w.att.heard && w.busy != "dup" {
		att := w.att
		att.heard = true
		w.later(func() {
			if w.att == att && w.outcome == nil {
				w.run.traceEvent(w.worker, repair.Revoked{})
				for _, a := range append([]repair.Action(nil), w.world.Step(repair.Revoked{})...) {
					w.perform(a)
				}
			}
		})
	}
}

// cancel ends the context of the attempt.
func (w *driver) cancel() {
	w.att.canceled = true
	if giveUp := w.att.giveUp; giveUp != nil {
		w.att.giveUp = nil
		w.later(giveUp)
	}
}

func (w *driver) revoke() {
	w.step(control.Revoke{Comm: w.att.base.group.Index})
	if w.att.prog != nil {
		w.step(control.Revoke{Comm: w.att.prog.group.Index})
	}
}

// await waits for a message, or for the end of its communicator.
func (w *driver) await(l *line, key messageKey, then func(what any, ok bool)) {
	if what, has := l.inbox[key]; has {
		delete(l.inbox, key)
		then(what, true)
		return
	}
	if l.revoked {
		then(nil, false)
		return
	}
	w.awaited = &awaited{l, key, then}
}

// look hands over a message that has come.
func (w *driver) look(l *line, key messageKey) {
	if key.what == savingMessage {
		w.keepSavings()
		return
	}
	if a := w.awaited; a != nil && a.on == l && a.key == key {
		what := l.inbox[key]
		delete(l.inbox, key)
		w.awaited = nil
		a.then(what, true)
	}
}
