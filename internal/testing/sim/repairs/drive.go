package repairs

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
)

// driver executes the actions of the rules of the world, as a rank does in package recovery (its
// run.go and attempt.go). A call that blocks there returns here with busy set, and answer continues
// it.
type driver struct {
	*worker
	world   *repair.World
	base    *line // the newest communicator
	old     []*line
	ends    *line // the communicator that a Finalize would close: the world, or its successor
	att     *attempt
	todo    []repair.Action
	busy    string // operation in progress; "": none
	then    func() // called when no action is left
	reply   repair.Return
	next    *repair.Run
	outcome *repair.Outcome
	store   store
	desk    desk
	alone   bool           // no copies are sent: the memory of the single node is enough
	home    *keptHome      // in the memory of the node; nil: there is none
	taken   []*keptHome    // homes of ranks that are not on this node now, which this process has read
	dropped []repair.Label // not to be restored
	awaited *awaited
	ask     *asking
	given   int // number of the first process in the last answer of the launcher

	attempts   int
	rolledBack bool
	flipped    bool         // a value has changed silently
	expected   *kept        // expected result of a replay
	differs    bool         // the replay had another result
	ever       uint64       // number of saves of this process
	promise    repair.Label // label of a Commit that has returned nil here
	stock      stock
	settled    bool // a Protect was agreed
}

// attempt is one call of the body.
type attempt struct {
	run      repair.Run
	base     *line // of the library
	prog     *line // of the program; nil: the call to make one failed
	canceled bool
	heard    bool // the revocation of base is known
	number   int  // of boundaries so far
	giveUp   func()
	body
}

// awaited is a message for which the driver waits.
type awaited struct {
	on   *line
	key  messageKey
	then func(what any, ok bool)
}

// asking is a replacement with this worker as the root.
type asking struct {
	token uint64
	what  repair.Replace
	on    *line
	until mono.Time
}

// openFirst starts the driver of one of the first ranks.
func (w *driver) openFirst() {
	w.open(control.Config{Uniform: true})
	w.base = w.comms[control.World]
	w.ends = w.base
	w.world = repair.New(w.config(), w.count, w.slot)
	w.later(func() { w.handle(repair.Begin{}, w.attempt) })
}

// openReplacement starts the driver of a worker that replaces another.
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

// handle passes an event to the rules and executes their actions. The function then runs when no
// action is left.
func (w *driver) handle(ev repair.Event, then func()) {
	w.then = then
	w.apply(ev)
	w.work()
}

func (w *driver) apply(ev repair.Event) {
	w.run.traceEvent(w.worker, ev)
	w.todo = append(w.todo, w.world.Step(ev)...)
}

// answer passes the result of an awaited operation to the rules.
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

// begin frees the communicators of the attempt before, and calls the body.
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

// leaveWorld makes the communicator of the attempt replace the one that a Finalize would close.
func (a *attempt) leaveWorld(w *driver) {
	if w.ends == a.base {
		return
	}
	w.step(control.Succeed{Comm: a.base.group.Index})
	w.old = append(w.old, w.ends)
	w.ends = a.base
}

// returned continues after the body has returned. The goroutines of the body end a while later.
func (w *driver) returned(result repair.Result) {
	w.handle(repair.Returned{Result: result}, func() {
		w.later(func() {
			w.desk.closeOpen() // operations of an attempt end with it
			quiet := repair.Quiet{Result: result}
			if result == repair.Fatal {
				quiet.Text = "an error of the body"
			}
			w.handle(quiet, w.attempt)
		})
	})
}

// finish ends the driver. The control rules remain active: others may still need them.
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

// freeOld frees communicators that are no longer needed. The communicator that a Finalize would
// close is excepted, and until the end of the world the newest one, too.
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

// heardRevocation handles a revocation. A wait on the communicator ends. If the communicator is
// that of the attempt, the rules are informed.
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

// look delivers a message that has arrived.
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
