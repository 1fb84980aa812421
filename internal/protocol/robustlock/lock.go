package robustlock

import "github.com/goulfm/goulfm/internal/base/must"

// Mode is the mode in which a lock is requested or held.
type Mode uint8

// The modes.
const (
	None      Mode = iota
	Shared         // with other sharers, without an exclusive holder
	Exclusive      // alone
	Mend           // alone, also if the lock is broken: see Broken
)

// String returns "none", "shared", "exclusive" or "mend".
func (m Mode) String() string {
	if m <= Mend {
		return [...]string{"none", "shared", "exclusive", "mend"}[m]
	}
	return "unknown"
}

// Outcome is the state of a request for a lock.
type Outcome uint8

// The outcomes.
const (
	Idle    Outcome = iota // no request
	Waiting                // not yet: call Look again
	Held                   // the lock is held in the requested mode
	// Broken: the exclusive holder died, and the protected data may be half written. Lock.Dead
	// returns the name of the holder. Nothing is held or requested any more. A process that can
	// repair the data requests the lock in mode Mend.
	Broken
)

// String returns "idle", "waiting", "held" or "broken".
func (o Outcome) String() string {
	if o <= Broken {
		return [...]string{"idle", "waiting", "held", "broken"}[o]
	}
	return "unknown"
}

// phase is the next action of a Lock: each phase makes one access to memory, so that a death
// between any two accesses is a death between two phases.
type phase uint8

const (
	idle phase = iota

	// Towards an exclusive hold.
	snatch   // swap 0 for me
	claim    // store that I wait
	hint     // set the hint
	look     // load W, and choose the next phase
	yield    // W is F: check whether reader cursor waits
	absence  // W is handed to another: check whether that process waits
	grab     // swap seen for me
	unclaim  // store that I do not wait any more
	scan     // W is mine: check whether reader cursor has left
	holding  // held, exclusively
	abandon  // broken: store that I do not wait any more
	withdrew // given up: the same store

	// Towards a share.
	enter     // store that I share
	check     // load W, and choose the next phase
	retreat   // store that I wait
	hintRead  // set the hint
	watch     // load W, and choose the next phase
	absenceRd // W is handed to another: check whether that process waits
	putBack   // swap seen for 0: its process does not take the lock
	sharing   // held, shared

	// Towards the end of a hold or a wait.
	leave     // shared: store that I request nothing
	askHint   // exclusive: load the hint
	clearHint // clear the hint
	survey    // load the claim of origin cursor
	setHint   // a process waits: set the hint again
	release   // store next
)

// Lock is one process's part in the lock of one target. It requests one hold at a time; its owner
// orders the goroutines of a process. No call blocks: a waiter calls Look until its wait is over.
type Lock struct {
	memory  Memory
	members Members
	me      int // this process's origin
	name    uint64

	phase  phase
	mode   Mode
	cursor int    // of a walk over the origins
	seen   uint64 // W at the last load
	next   uint64 // W after the release
	back   phase  // of a reader: the phase that follows if the lock is held
	dead   uint64 // name of the dead holder, if the last outcome was Broken
	broken uint64 // name of the dead holder from which this process took the lock, to mend it; otherwise 0
}

// Config describes the process that a Lock belongs to.
type Config struct {
	Memory  Memory
	Members Members
	Me      int
}

// New returns origin Me's part in the lock in that memory.
func New(c Config) *Lock {
	l := &Lock{memory: c.Memory, members: c.Members, me: c.Me}
	l.name = c.Members.Name(c.Me)
	must.That(l.name >= 1 && l.name <= NameMax, "name %d", l.name)
	return l
}

// Lock requests the lock. Nothing may be held or requested.
func (l *Lock) Lock(m Mode) Outcome {
	must.That(l.phase == idle && m != None, "lock in mode %v while in phase %d", m, l.phase)
	l.startLock(m)
	if m != Shared && l.lockFree() {
		return l.Outcome()
	}
	return l.Look()
}

// lockFree takes a lock that is free: it makes the phases snatch and scan without step, which saves
// half of the time. False means that the lock is not free; Look does the rest.
func (l *Lock) lockFree() bool {
	l.phase = claim
	if !l.memory.Swap(free, l.name) {
		return false
	}
	l.beginScan()
	for l.phase == scan && !l.scanReader() {
	}
	return true
}

func (l *Lock) startLock(m Mode) {
	l.mode, l.dead, l.phase = m, 0, snatch
	if m == Shared {
		l.phase = enter
	}
}

// Look continues a request as far as possible without waiting.
func (l *Lock) Look() Outcome {
	for {
		if waits := l.step(); waits {
			return l.Outcome()
		}
	}
}

// Outcome returns the state of the request.
func (l *Lock) Outcome() Outcome {
	switch {
	case l.phase == holding || l.phase == sharing:
		return Held
	case l.phase != idle:
		return Waiting
	case l.dead != 0:
		return Broken
	}
	return Idle
}

// Dead returns the name of the dead holder after an outcome of Broken.
func (l *Lock) Dead() uint64 { return l.dead }

// Holders returns the origins that hold the lock, or have just been handed the lock, for a report
// on a job that hangs. The holders may change during the call. Any goroutine may call Holders.
func (l *Lock) Holders() (origins []int) {
	if name, _ := Next(l.memory.Word()); name != 0 {
		if o, ok := l.members.Origin(name); ok && o != l.me {
			return []int{o}
		}
	}
	for o := range l.members.Len() {
		if o != l.me && l.memory.Claim(o) == Sharing {
			origins = append(origins, o)
		}
	}
	return origins
}

// Holds returns the mode in which the lock is held, or None.
func (l *Lock) Holds() Mode {
	if l.Outcome() == Held {
		return l.mode
	}
	return None
}

// Unlock ends a hold.
func (l *Lock) Unlock() {
	must.That(l.Outcome() == Held, "unlock of what is not held, in phase %d", l.phase)
	l.startUnlock()
	l.goOut()
}

// Return gives back an unused hold: the owner gave up before the owner learned of the hold. A lock
// that was broken is broken again, since the owner has mended nothing.
//
//	0           dies as the holder
//	1           Lock(Mend) with a context that ends soon: its server takes the lock for it
//	1           its context ends; the answer comes too late
//	server      gives the lock back
//	2           Lock(Exclusive): must learn of the death of 0
func (l *Lock) Return() {
	must.That(l.Outcome() == Held, "return of what is not held, in phase %d", l.phase)
	l.startReturn()
	l.goOut()
}

// Withdraw gives up a wait. If the lock was obtained in the meantime, Withdraw releases it.
func (l *Lock) Withdraw() {
	must.That(l.Outcome() == Waiting, "withdrawal of what is not waited for, in phase %d", l.phase)
	l.startWithdraw()
	l.goOut()
}

// goOut ends a hold or a wait, without waiting for anything.
func (l *Lock) goOut() {
	for l.phase != idle {
		l.stepOut()
	}
}

func (l *Lock) startUnlock() {
	l.phase = askHint
	if l.mode == Shared {
		l.phase = leave
	}
}

// startReturn ends an unused hold. A broken lock is handed to no waiter: all waiters learn of the
// dead holder.
func (l *Lock) startReturn() {
	l.startUnlock()
	if l.broken != 0 {
		l.phase, l.next = release, l.broken
	}
}

// startWithdraw ends a wait in one of the phases in which a process waits (see step).
func (l *Lock) startWithdraw() {
	if l.phase == scan {
		l.startReturn()
		return
	}
	l.phase = withdrew
}

// Describe returns the mode and the outcome, for diagnoses.
func (l *Lock) Describe() string {
	return l.mode.String() + " " + l.Outcome().String()
}
