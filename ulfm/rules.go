package ulfm

// Op is a class of operations that failures and revocations treat alike.
type Op uint8

// Classes of operations. "Posted" ones are asked about when they are waited
// for: posting never raises an error of failure (R47).
const (
	OpSend          Op = iota // to one peer, blocking or posted (R45, R47)
	OpRecvNamed               // from one named peer, blocking or posted (R46, R47)
	OpRecvAny                 // blocking, from any rank; a combined send and receive with such a source (R48)
	OpRecvAnyPosted           // posted earlier, from any rank (R49)
	OpProbe                   // for a message of one named peer, blocking or not (R48)
	OpProbeAny                // for a message of any rank, blocking or not (R48)
	OpCollective              // barrier, broadcast, reductions, ... (R54, R55)
	OpCreate                  // dup, split, create: agreed, so that the outcome is uniform (R56)
	OpAgree                   // agree, agree-failed (R32)
	OpShrink                  // shrink (R40)
	OpLocal                   // rank, size, failed set, acknowledge, free, ... (R14, R58)
)

// State is what one member knows about a communicator when an operation asks.
type State struct {
	Revoked     bool // it is revoked
	PeerDead    bool // the one peer that the operation names has failed
	UnackedDead bool // some member has failed and is not acknowledged here
	AnyDead     bool // some member has failed
}

// Entry returns the error class that an operation raises in a state when it
// cannot complete from what is already there, or nil if it may go on. A complete
// operation is never asked about: success once obtained stays success (R7, R8).
//
// The revocation is looked at before a dead peer (R7): else a loop of operations
// that meet dead peers would never see that its communicator is revoked (R18).
func Entry(op Op, st State) error {
	if st.Revoked && revocable(op) {
		return ErrRevoked
	}
	if !blockedByDeath(op, st) {
		return nil
	}
	if op == OpRecvAnyPosted {
		return ErrProcFailedPending
	}
	return ErrProcFailed
}

// revocable says whether a revocation ends the operation (R13, R14).
func revocable(op Op) bool {
	switch op {
	case OpAgree, OpShrink, OpLocal:
		return false
	}
	return true
}

// blockedByDeath says whether a known death may be what op would wait for.
func blockedByDeath(op Op, st State) bool {
	switch op {
	case OpSend, OpRecvNamed, OpProbe:
		return st.PeerDead
	case OpRecvAny, OpRecvAnyPosted, OpProbeAny:
		return st.UnackedDead
	case OpCollective: // acknowledging does not help (R23, R55)
		return st.AnyDead
	}
	// Creations, agree and shrink contain an agreement: it copes with deaths,
	// and whoever stayed away would keep the others waiting.
	return false
}
