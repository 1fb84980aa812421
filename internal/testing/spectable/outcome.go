package spectable

import "slices"

// A Class is a set of operations that the rules treat alike.
type Class uint8

// Classes of operations.
const (
	// Buffered is a send that may end before its message is received (R45).
	Buffered Class = iota
	// Synchronous is a send that ends only once a receive has matched (R45).
	Synchronous
	// Named is a receive or a probe of one rank, blocking or posted (R46).
	Named
	// Wild is a receive or a probe of any rank that leaves no request (R48).
	Wild
	// WildPosted is a posted receive of any rank, waited for or tested (R49).
	WildPosted
	// NoProcess is an operation with no process (R53).
	NoProcess
	// Self is an operation of a process with itself (R53).
	Self
	// Synchronizing is a collective that nobody leaves before all have entered (R54).
	Synchronizing
	// Loose is any other collective (R54).
	Loose
	// Creation makes a communicator (R56, C3).
	Creation
	// Agreement is Agree or Iagree (R27-R32).
	Agreement
	// AgreedFailures is AgreeFailed (R32).
	AgreedFailures
	// Shrinking is Shrink (R38-R42).
	Shrinking
	// Local is an operation that asks nobody (R14, R58).
	Local
	// Ending is Finalize (R62).
	Ending
)

// Collective reports whether all living members make the call together.
func (c Class) Collective() bool { return c >= Synchronizing && c != Local }

// Uniform reports whether all living members must get the same outcome (R29, R56, C3).
func (c Class) Uniform() bool { return c.Collective() && c > Loose }

// A Moment is the time of an event, seen from the judged call.
type Moment uint8

// Moments.
const (
	// Never: the event does not happen.
	Never Moment = iota
	// Before the call, and the caller knows.
	Before
	// Unaware: before the call, without the caller's knowledge.
	Unaware
	// During the call, once the call waits.
	During
)

// Acked is how much each living member has acknowledged.
type Acked uint8

// The acknowledged failures.
const (
	None Acked = iota
	Part       // the first known failure of two
	All
)

// The ranks of a cell. Rank Caller makes the judged call, or all living ranks make the call
// together.
const (
	Caller  = 0
	Peer    = 1 // named by the call
	Revoker = 2 // revokes in a state with a revocation; never dies
	Third   = 3 // not named by the call
	Ranks   = 4 // members of the communicator

	// Stranger is the number in the world of a process that is no member.
	Stranger = 4
)

// A State is the state of a communicator of four when a call is made.
type State struct {
	Name    string
	Dead    []int  // ranks that die, ascending
	Died    Moment // when
	Acked   Acked
	Revoked Moment
	// Served is when the other side of the call does its part: a message is sent, or received. A
	// dead peer may have served Before.
	Served Moment
	// Stranger is when a process outside of the communicator dies. Elsewhere means that the parent
	// of the communicator is revoked. Neither may affect the communicator (R3, R16).
	Stranger  Moment
	Elsewhere bool
}

// An Outcome is how a call ended.
type Outcome uint8

// Outcomes, by the classes of R6.
const (
	OK Outcome = iota
	Failed
	Pending
	Revoked
	Other // none of these is ever right

	// Freed, NotHeld and Unsupported are those of windows alone.
	Freed
	NotHeld
	Unsupported
)

// String returns the outcome's name.
func (o Outcome) String() string {
	return []string{"ok", "failed", "pending", "revoked", "other", "freed", "not held", "unsupported"}[o]
}

// An Expectation is the permitted results of a call.
type Expectation struct {
	Outcomes []Outcome
	// Ranks, where the outcome is Failed or Pending: the error names some of Ranks and
	// nobody else, and with Exactly all of them.
	Ranks   []int
	Exactly bool
}

// Expect is the specification of one cell: the permitted results of a call of class c in state st.
func Expect(c Class, st State) Expectation {
	switch {
	case exempt(c):
		return exempted(c, st)
	case st.Revoked == Before: // R13; before dead peers: R7
		return only(Revoked)
	}
	e := pointToPoint(c, st)
	if c.Collective() {
		e = collective(c, st)
	}
	if st.Revoked != Never && len(st.Dead) > 0 { // whichever is known first
		e.Outcomes = append(e.Outcomes, Revoked)
	}
	return e
}

// Relevant reports whether the state is different from the others for the class. For example a
// collective is independent of messages, and a dead process receives nothing.
func Relevant(c Class, st State) bool {
	if st.Served != Before {
		return true
	}
	switch c {
	case Named, Wild, WildPosted:
		return true
	case Synchronous:
		return !slices.Contains(st.Dead, Peer)
	}
	return false
}

// Serves reports whether the other side does its part in the cell: only where this decides the
// outcome, for the part must not hide an error.
func Serves(c Class, st State) bool {
	e := Expect(c, st)
	return st.Served == Before || st.Served == During && len(e.Outcomes) == 1 && e.Outcomes[0] == OK
}

// Server is the rank that serves: the peer or, for calls that any rank may serve, a living rank.
func Server(c Class, st State) int {
	if (c == Wild || c == WildPosted) && slices.Contains(st.Dead, Peer) && st.Served == During {
		return Revoker
	}
	return Peer
}

// exempt classes never raise revoked: agreement and shrink (R32, R40), local calls (R14), Finalize
// (R62), and operations without another process (R53).
func exempt(c Class) bool {
	switch c {
	case Agreement, AgreedFailures, Shrinking, Local, Ending, NoProcess:
		return true
	}
	return false
}

func exempted(c Class, st State) Expectation {
	if c == Agreement && len(st.Dead) > 0 && st.Acked != All { // R28
		return failed(Failed, st.Dead, true)
	}
	return only(OK)
}

func collective(c Class, st State) Expectation {
	dead, revoked := len(st.Dead) > 0, st.Revoked != Never
	switch {
	case dead && (c != Loose || st.Died == Before): // R54, R55; acknowledging does not help: R23
		return failed(Failed, st.Dead, c == Creation || st.Died == Before)
	case dead: // R54: a rank that does not need the dead may succeed
		return orOK(failed(Failed, st.Dead, false))
	case revoked && c == Loose:
		return orOK(only(Revoked))
	case revoked:
		return only(Revoked)
	}
	return only(OK)
}

func pointToPoint(c Class, st State) Expectation {
	peerDead := slices.Contains(st.Dead, Peer)
	switch {
	case c == Self: // R53
		return revocable(st)
	case c == Buffered && !peerDead: // the send may be over before the revocation is known (R13)
		return revocable(st)
	case c == Buffered && st.Died != Before: // R45
		return orOK(failed(Failed, []int{Peer}, true))
	case c == Buffered:
		return failed(Failed, []int{Peer}, true)
	case st.Served == Before && st.Revoked == Never: // R8, R50
		return only(OK)
	case st.Served == Before: // a message may still be taken until the revocation is known (R11)
		return orOK(only(Revoked))
	case (c == Named || c == Synchronous) && peerDead: // R45, R46
		return failed(Failed, []int{Peer}, true)
	case c == Wild && len(st.Dead) > 0 && st.Acked != All: // R48
		return failed(Failed, st.Dead, false)
	case c == WildPosted && len(st.Dead) > 0 && st.Acked != All: // R49
		return failed(Pending, st.Dead, false)
	case st.Revoked != Never:
		return only(Revoked)
	}
	return only(OK) // R2, R3, R22
}

// revocable is success, or the error of a revocation that comes at the same time.
func revocable(st State) Expectation {
	if st.Revoked == Never {
		return only(OK)
	}
	return orOK(only(Revoked))
}

func only(o Outcome) Expectation { return Expectation{Outcomes: []Outcome{o}} }

func failed(o Outcome, ranks []int, exactly bool) Expectation {
	return Expectation{Outcomes: []Outcome{o}, Ranks: ranks, Exactly: exactly}
}

func orOK(e Expectation) Expectation {
	e.Outcomes = append([]Outcome{OK}, e.Outcomes...)
	return e
}

// States are the states of the table.
func States() []State {
	peer, third, both := []int{Peer}, []int{Third}, []int{Peer, Third}
	return []State{
		{Name: "healthy", Served: During},
		{Name: "healthy, served before", Served: Before},
		{Name: "peer dead, known", Dead: peer, Died: Before},
		{Name: "peer dead, known, served before", Dead: peer, Died: Before, Served: Before},
		{Name: "peer dead, unknown", Dead: peer, Died: Unaware},
		{Name: "peer dies during", Dead: peer, Died: During},
		{Name: "third dead, known", Dead: third, Died: Before, Served: During},
		{Name: "third dead, known, served before", Dead: third, Died: Before, Served: Before},
		{Name: "third dead, unknown", Dead: third, Died: Unaware, Served: During},
		{Name: "third dies during", Dead: third, Died: During, Served: During},
		{Name: "revoked before", Revoked: Before},
		{Name: "revoked before, served before", Revoked: Before, Served: Before},
		{Name: "revoked, unknown", Revoked: Unaware},
		{Name: "revoked during", Revoked: During},
		{Name: "peer dead, acknowledged", Dead: peer, Died: Before, Acked: All, Served: During},
		{Name: "third dead, acknowledged", Dead: third, Died: Before, Acked: All, Served: During},
		{Name: "both dead, partly acknowledged", Dead: both, Died: Before, Acked: Part, Served: During},
		{Name: "peer dead and revoked", Dead: peer, Died: Before, Revoked: Before},
		{Name: "third dead and revoked", Dead: third, Died: Before, Revoked: Before},
		{Name: "peer dead, acknowledged and revoked", Dead: peer, Died: Before, Acked: All, Revoked: Before},
		{Name: "peer dead, revoked during", Dead: peer, Died: Before, Revoked: During},
		{Name: "all others but one dead", Dead: both, Died: Before},
		{Name: "stranger dead", Stranger: Before, Served: During},
		{Name: "stranger dies during", Stranger: During, Served: During},
		{Name: "parent revoked", Elsewhere: true, Served: During},
	}
}
