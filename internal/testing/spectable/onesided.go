package spectable

import "slices"

// A WindowClass is a set of calls on windows that the rules W treat alike.
type WindowClass uint8

// Classes of calls on windows. The target is rank Peer.
const (
	// Access is an operation on the target's elements, or its flush (W2-W5, W8).
	Access WindowClass = iota
	// AllTargets is a flush of all targets (W5).
	AllTargets
	// Locking gets the lock of the target, shared or exclusive (W10-W13).
	Locking
	// Mending gets the lock in mode Mend (W11).
	Mending
	// Unlocking releases the lock (W13).
	Unlocking
	// LockingAll gets a share of every target's lock.
	LockingAll
	// UnlockingAll releases these shares.
	UnlockingAll
	// WaitingFor waits for a store of rank Peer here (W17, W18).
	WaitingFor
	// WaitingAny waits for a store of any rank here (W17).
	WaitingAny
	// Owning is about this member's own memory: a Post, an object of its pool.
	Owning
	// Starting begins an epoch at the target (W16).
	Starting
	// Completing ends an epoch at the target (W16).
	Completing
	// WaitingPosted ends the epoch of a Post for rank Peer (W16).
	WaitingPosted
	// TestingPosted tests whether the epoch of a Post is over.
	TestingPosted
	// Fencing is the fence, of all (W14).
	Fencing
	// Creating makes a window on the communicator of the present window (W1).
	Creating
	// Rebuilding makes a window there, with the memory of the present window (W20).
	Rebuilding
	// AskingAll is a collective question (Heirs).
	AskingAll
	// Reading accesses the memory of the target itself (W9).
	Reading
	// Viewing makes another window of the present window, here alone.
	Viewing
	// Attending asks nobody, and cannot fail.
	Attending
	// GivingUp gives the window up, here or everywhere (W19, W21).
	GivingUp
	// Misusing ends an epoch or a lock that was not begun.
	Misusing
)

// Collective reports whether all living members make the call together.
func (c WindowClass) Collective() bool { return c >= Fencing && c <= AskingAll }

// Uniform reports whether all living members must get the same outcome (W1).
func (c WindowClass) Uniform() bool { return c == Creating || c == Rebuilding }

// waits reports whether the call waits for rank Peer, or for any rank.
func (c WindowClass) waits() bool {
	return c == WaitingFor || c == WaitingAny || c == Starting || c == WaitingPosted
}

// Holding is how rank Third has the target's lock when the call is made.
type Holding uint8

// The ways to hold a lock.
const (
	Unlocked Holding = iota
	SharedByThird
	HeldByThird
)

// A WindowState is the state of a window of four members when a call is made. Served and Stranger
// of the State are not used. Acknowledgements are on the window's communicator; a revocation is of
// the communicator from which the window was made (W19).
type WindowState struct {
	State
	Did   bool // rank Peer did its part before the call
	Freed bool // the caller, or with a collective call everybody, has freed the window
	Lock  Holding
}

// Broken reports whether the target's lock has, or gets, a dead holder.
func (st WindowState) Broken() bool { return st.Lock == HeldByThird && slices.Contains(st.Dead, Third) }

// Returned reports whether rank Third releases the lock while the call waits. Rank Third keeps the
// lock if something else ends the wait.
func (st WindowState) Returned() bool {
	return st.Lock != Unlocked && len(st.Dead) == 0 && st.Revoked == Never
}

// WindowStates are the states of the table of windows.
func WindowStates() []WindowState {
	target, third, both := []int{Peer}, []int{Third}, []int{Peer, Third}
	return []WindowState{
		{State: State{Name: "healthy"}},
		{State: State{Name: "healthy, done before"}, Did: true},
		{State: State{Name: "target dead, known", Dead: target, Died: Before}},
		{State: State{Name: "target dead, known, done before", Dead: target, Died: Before}, Did: true},
		{State: State{Name: "target dead, unknown", Dead: target, Died: Unaware}},
		{State: State{Name: "target dies during", Dead: target, Died: During}},
		{State: State{Name: "target dead, acknowledged", Dead: target, Died: Before, Acked: All}},
		{State: State{Name: "third dead, known", Dead: third, Died: Before}},
		{State: State{Name: "third dead, unknown", Dead: third, Died: Unaware}},
		{State: State{Name: "third dies during", Dead: third, Died: During}},
		{State: State{Name: "third dead, acknowledged", Dead: third, Died: Before, Acked: All}},
		{State: State{Name: "target's node gone", Dead: both, Died: Before}},
		{State: State{Name: "target's node goes during", Dead: both, Died: During}},
		{State: State{Name: "target's node gone, partly acknowledged", Dead: both, Died: Before, Acked: Part}},
		{State: State{Name: "revoked before", Revoked: Before}},
		{State: State{Name: "revoked before, done before", Revoked: Before}, Did: true},
		{State: State{Name: "revoked, unknown", Revoked: Unaware}},
		{State: State{Name: "revoked during", Revoked: During}},
		{State: State{Name: "target dead and revoked", Dead: target, Died: Before, Revoked: Before}},
		{State: State{Name: "freed"}, Freed: true},
		{State: State{Name: "lock held, given back"}, Lock: HeldByThird},
		{State: State{Name: "lock shared, given back"}, Lock: SharedByThird},
		{State: State{Name: "lock shared by the dead", Dead: third, Died: Before}, Lock: SharedByThird},
		{State: State{Name: "its sharer dies during", Dead: third, Died: During}, Lock: SharedByThird},
		{State: State{Name: "lock broken", Dead: third, Died: Before}, Lock: HeldByThird},
		{State: State{Name: "lock broken, unknown", Dead: third, Died: Unaware}, Lock: HeldByThird},
		{State: State{Name: "its holder dies during", Dead: third, Died: During}, Lock: HeldByThird},
		{State: State{Name: "lock held, target dies during", Dead: target, Died: During}, Lock: HeldByThird},
		{State: State{Name: "lock held, revoked during", Revoked: During}, Lock: HeldByThird},
		{State: State{Name: "lock broken, target's node gone", Dead: both, Died: Before}, Lock: HeldByThird},
	}
}

// WindowRelevant reports whether the state is different from the others for the class.
func WindowRelevant(c WindowClass, st WindowState) bool {
	switch {
	case st.Did:
		return c.waits()
	case st.Freed: // a misuse, and a new window, are independent of the old window
		return c != Misusing && c != Creating
	case st.Lock != Unlocked:
		return c == Access || c == AllTargets || c == Locking || c == Mending || c == LockingAll || c == Fencing
	}
	return true
}

// WindowServes reports whether rank Peer does its part while the call waits, or Revoker if Peer is
// dead: only where nothing else decides the outcome.
func WindowServes(c WindowClass, st WindowState) bool {
	e := ExpectWindow(c, st, false)
	return c.waits() && !st.Did && len(e.Outcomes) == 1 && e.Outcomes[0] == OK
}

// ExpectWindow is the specification of one cell: the permitted results of a call of class c in
// state st. Away means that the target's memory is not shared with the caller.
func ExpectWindow(c WindowClass, st WindowState, away bool) Expectation {
	switch {
	case c == Misusing:
		return only(NotHeld)
	case c == Attending:
		return only(OK)
	case c == AskingAll:
		return Expect(Synchronizing, st.State)
	case st.Freed:
		return only(Freed)
	case c == GivingUp, c == Viewing:
		return only(OK)
	case c == Reading && away:
		return failed(Unsupported, []int{Peer}, true)
	case c == Reading: // revoked and dead, too (W9, W19)
		return only(OK)
	case c == Creating, c == Rebuilding:
		return Expect(Creation, st.State)
	case st.Did && c != Starting, st.Did && st.Revoked == Never: // W17, W18
		return only(OK)
	case st.Revoked == Before: // W19
		return only(Revoked)
	case st.Revoked != Never && ends(c, st):
		return only(Revoked)
	case st.Revoked != Never:
		return orOK(only(Revoked))
	}
	return deathsIn(c, st)
}

// deathsIn is the effect of the dead on a call.
func deathsIn(c WindowClass, st WindowState) Expectation {
	ranks := neededDead(c, st)
	switch {
	case len(ranks) == 0: // W2
		return only(OK)
	case st.Died == Before: // W3
		return failed(Failed, ranks, c != Fencing && !(c == WaitingAny && st.Acked == Part))
	case ends(c, st):
		return failed(Failed, ranks, len(ranks) == 1)
	}
	return orOK(failed(Failed, ranks, len(ranks) == 1)) // W4
}

// neededDead are the dead without which the call cannot succeed.
func neededDead(c WindowClass, st WindowState) []int {
	dead := slices.Contains(st.Dead, Peer)
	switch c {
	case AllTargets, LockingAll, UnlockingAll, Fencing:
		return st.Dead
	case Owning, GivingUp:
		return nil
	case WaitingAny:
		if st.Acked == All {
			return nil
		}
		return st.Dead
	case Locking:
		if !dead && st.Broken() { // W11
			return []int{Third}
		}
	}
	if dead {
		return []int{Peer}
	}
	return nil
}

// ends reports whether a death, or a revocation, surely ends the call: nothing else does.
func ends(c WindowClass, st WindowState) bool {
	switch c {
	case Locking, LockingAll:
		return st.Lock == HeldByThird
	case Mending: // the mender gets the lock of the dead
		return st.Lock == HeldByThird && !slices.Contains(st.Dead, Third)
	}
	return c.waits() || c == Fencing // W14
}
