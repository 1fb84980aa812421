package commstate

import (
	"errors"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/ulfm"
)

// The errors by which an agreement tells every member of one member's mistake.
var (
	// ErrMismatch says that members called different operations where all must
	// call the same.
	ErrMismatch = errors.New("members called different operations")

	// ErrPeerArgument says that another member had a wrong argument and voted
	// against the operation.
	ErrPeerArgument = errors.New("another member's argument was wrong")

	// ErrScarce says that fewer processes could be had than were asked for.
	ErrScarce = errors.New("too few processes")

	// ErrLength says that a count or a length is out of range.
	ErrLength = errors.New("length out of range")

	// ErrFreed says that the communicator was freed.
	ErrFreed = errors.New("communicator freed")
)

// notStarted is ErrPeerArgument at the members of a Spawn or Replace whose root has voted no: its
// processes were refused, or killed before they were in Init.
type notStarted struct{}

func (notStarted) Error() string {
	return "the processes could not be started, and the error of that member has the reason"
}
func (notStarted) Is(target error) bool { return target == ErrPeerArgument }

// vetoed returns the error of a call that members have voted against.
func vetoed(p Proposal, vetoes rankset.Set) error {
	e := &ulfm.Error{Op: p.Call.Kind.String(), Ranks: vetoes.Slice(), Err: ErrPeerArgument}
	if p.Call.Kind.Starts() && vetoes.Len() == 1 && vetoes.Has(p.Call.Root) {
		e.Err = notStarted{}
	}
	return e
}
