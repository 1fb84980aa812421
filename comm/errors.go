package comm

import (
	"errors"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// The classes of errors that failures cause, those of package ulfm: Recoverable returns true for
// these.
var (
	// ErrProcFailed: the operation cannot complete, because a process that the operation needs has
	// failed (R6).
	ErrProcFailed = ulfm.ErrProcFailed
	// ErrProcFailedPending: a posted receive from Any might have been waiting for a
	// process that failed. The request is still active (R49).
	ErrProcFailedPending = ulfm.ErrProcFailedPending
	// ErrRevoked: some member has revoked the communicator (R13).
	ErrRevoked = ulfm.ErrRevoked
)

// An Error describes the operation that failed: every operation returns its errors wrapped in a
// *Error, or in a *MultiError of several. The type is that of package ulfm, with the fields
//
//	Op    string // the operation, in lower case: "recv"
//	Comm  string // the communicator's name: "world"
//	Ranks []int  // the ranks of Comm that the error concerns; may be empty
//	Err   error  // the class, or an error that wraps it
//
// Compare classes with errors.Is, and read the fields after errors.As:
//
//	var failed *comm.Error
//	if errors.As(err, &failed) && errors.Is(err, comm.ErrProcFailed) {
//		log.Print(failed.Op, failed.Ranks)
//	}
type Error = ulfm.Error

// Recoverable reports whether a program can recover from err by Revoke, Agree and Shrink: err is a
// failed process or a revocation. Recoverable is ulfm.Recoverable.
func Recoverable(err error) bool { return ulfm.Recoverable(err) }

// The classes of all other errors. Each error is wrapped in a *Error.
var (
	// ErrRank: a rank that the communicator does not have.
	ErrRank = errors.New("rank out of range")
	// ErrRoot: a root that the communicator does not have.
	ErrRoot = errors.New("root out of range")
	// ErrTag: a tag below 0 or above 1<<31-1.
	ErrTag = errors.New("tag out of range")
	// ErrLength: a slice of the wrong length, or more calls of CreateGroup at once than the limit.
	ErrLength = commstate.ErrLength
	// ErrBuffer: a buffer that cannot be used.
	ErrBuffer = errors.New("bad buffer")
	// ErrTruncated: the message is longer than the buffer, which is filled (DataError).
	ErrTruncated = engine.ErrTruncated
	// ErrType: elements of another type than the sender's (DataError), or that cannot be
	// sent.
	ErrType = engine.ErrType
	// ErrMismatch: members called different operations, named in the error, or the same
	// with different lengths or element types (DataError).
	ErrMismatch = commstate.ErrMismatch
	// ErrArgument: no context, or no communicator, or a number out of its range for which no other
	// class exists: a colour, a dimension, a count.
	ErrArgument = errors.New("bad argument")
	// ErrPeerArgument: another member had a wrong argument, or the root of a Spawn or Replace could
	// not start the processes.
	ErrPeerArgument = commstate.ErrPeerArgument
	// ErrInactive: a request, a Pending or a Message that is over.
	ErrInactive = engine.ErrInactive
	// ErrNotBegun: the context was over when Agree, AgreeFailed, Shrink, Disconnect or a call that
	// creates a communicator was made. This member has contributed nothing and may make the call
	// again. Without ErrNotBegun the error of a context means that the call abandoned only the
	// wait.
	ErrNotBegun = engine.ErrNotBegun
	// ErrFreed: a communicator that was freed, here or by the receiver of a message.
	ErrFreed = commstate.ErrFreed
	// ErrFinalized: the world was finalized, or the call waits for a member that is in Finalize.
	ErrFinalized = engine.ErrFinalized
	// ErrNoRoom: a message that is too long, or more processes than the job can start.
	ErrNoRoom = engine.ErrNoRoom
	// ErrUnsupported: not supported.
	ErrUnsupported = engine.ErrUnsupported
	// ErrFenced: the others have declared this process dead.
	ErrFenced = engine.ErrFenced
)

// A MultiError has one error, or nil, per request of a WaitAll, WaitSome, TestAll or TestSome.
type MultiError struct{ Errs []error }

// Error names the first error and the number of the others.
func (m *MultiError) Error() string {
	n, first := 0, error(nil)
	for _, err := range m.Errs {
		if err != nil {
			if n++; first == nil {
				first = err
			}
		}
	}
	switch n {
	case 0:
		return "no error"
	case 1:
		return first.Error()
	}
	return first.Error() + " (and " + itoa(n-1) + " more)"
}

// Unwrap returns the errors that are not nil.
func (m *MultiError) Unwrap() []error {
	var out []error
	for _, err := range m.Errs {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// fail adds the operation, the communicator and the ranks to an error. An *ulfm.Error of the
// control rules already has some of these: fail unwraps such an error first.
func fail(op string, c *Comm, ranks []int, err error) error {
	if err == nil {
		return nil
	}
	if e := (*ulfm.Error)(nil); errors.As(err, &e) {
		err = e.Err
		if len(ranks) == 0 {
			ranks = c.outerRanks(e.Ranks)
		}
	}
	e := &ulfm.Error{Op: op, Ranks: ranks, Err: explain(err)}
	if c == nil {
		return e
	}
	e.Comm = c.e.Name()
	return c.raise(e)
}

// failAny is fail for operations that need more than one rank: if a failure is the cause, the error
// names the members known to have failed.
func failAny(op string, c *Comm, err error) error {
	if err == nil {
		return nil
	}
	var ranks []int
	if errors.Is(err, ulfm.ErrProcFailed) || errors.Is(err, ulfm.ErrProcFailedPending) {
		ranks = c.outerRanks(c.e.GetFailed())
	}
	return fail(op, c, ranks, err)
}

// rehearseErrors evaluates errors.Is and errors.As once, as programs do after a failure. When the
// runtime first meets a pair of a type and an interface, the runtime builds a table for the pair.
// Building that table takes longer than an agreement, and all survivors would wait for it.
func rehearseErrors() {
	var e *ulfm.Error
	for _, err := range []error{&ulfm.Error{Err: ulfm.ErrProcFailed}, ulfm.ErrProcFailed} {
		_ = errors.Is(err, ulfm.ErrRevoked) || errors.As(err, &e)
	}
}
