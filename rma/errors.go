package rma

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
)

// The classes of errors that only windows raise. Each error is wrapped in a *comm.Error.
var (
	// ErrBounds: elements or a counter of notifications that the target does not have.
	ErrBounds = errors.New("outside of the window")
	// ErrNotHeld: an Unlock without a Lock, an UnlockAll without a LockAll, a Complete without a
	// Start, a WaitPosted or TestPosted without a Post.
	ErrNotHeld = errors.New("not held")
	// ErrStale: a reference to memory that was given back, or to no object.
	ErrStale = errors.New("memory that was given back")
)

var (
	errNoContext = fmt.Errorf("%w: nil context", comm.ErrArgument)
	errView      = fmt.Errorf("%w: it is a view: that belongs to the window that it was made of", comm.ErrArgument)
)

// raise passes an error through the error handler of the communicator that the window was made of.
// Every exported call does so once; its internal calls do not.
func (k *core) raise(err error) error {
	if err == nil {
		return nil
	}
	return door.Raise(k.parent, err)
}

// fail adds the location of an error.
func (k *core) fail(op string, ranks []int, err error) error {
	if err == nil {
		return nil
	}
	return &comm.Error{Op: op, Comm: k.name, Ranks: ranks, Err: err}
}

// failBy is fail for the error of a call on the communicator of the window: the ranks and the class
// are kept.
func (k *core) failBy(op string, err error) error {
	if e, ok := errors.AsType[*comm.Error](err); ok {
		return k.fail(op, e.Ranks, e.Err)
	}
	return k.fail(op, nil, err)
}
