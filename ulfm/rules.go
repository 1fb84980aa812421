package ulfm

// Op is a class of operations that failures and revocations treat alike.
type Op uint8

// Classes of operations. Posted operations are checked when the program waits for them: posting
// never raises a failure error (R47).
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

// State is the knowledge of one member about a communicator when an operation is checked.
type State struct {
	Revoked     bool // the communicator is revoked
	PeerDead    bool // the one peer that the operation names has failed
	UnackedDead bool // some member has failed and is not acknowledged here
	AnyDead     bool // some member has failed
}

// Entry returns the error class that an operation raises in a state if the operation cannot
// complete from messages already present, or nil if the operation may continue. Callers never check
// a complete operation: success once obtained stays success (R7, R8).
//
// The revocation is checked before a dead peer (R7). Otherwise a loop of operations with dead peers
// would never report that the communicator is revoked (R18).
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

// revocable reports whether a revocation ends the operation (R13, R14).
func revocable(op Op) bool {
	switch op {
	case OpAgree, OpShrink, OpLocal:
		return false
	}
	return true
}

// blockedByDeath reports whether op might wait for a process that is known to be dead.
func blockedByDeath(op Op, st State) bool {
	switch op {
	case OpSend, OpRecvNamed, OpProbe:
		return st.PeerDead
	case OpRecvAny, OpRecvAnyPosted, OpProbeAny:
		return st.UnackedDead
	case OpCollective: // acknowledging does not help (R23, R55)
		return st.AnyDead
	}
	// Creations, agree and shrink contain an agreement, which tolerates deaths. A member that did
	// not take part would keep the others waiting.
	return false
}
