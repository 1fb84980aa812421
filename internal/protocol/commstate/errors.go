package commstate

import (
	"errors"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/ulfm"
)

// The errors by which an agreement reports one member's mistake to every member.
var (
	// ErrMismatch means that members called different operations where all must
	// call the same.
	ErrMismatch = errors.New("members called different operations")

	// ErrPeerArgument means that another member had a wrong argument and voted
	// against the operation.
	ErrPeerArgument = errors.New("another member's argument was wrong")

	// ErrScarce means that fewer processes were available than were requested.
	ErrScarce = errors.New("too few processes")

	// ErrLength means that a count or a length is out of range.
	ErrLength = errors.New("length out of range")

	// ErrFreed means that the communicator was freed.
	ErrFreed = errors.New("communicator freed")
)

// notStarted is ErrPeerArgument at the members of a Spawn or Replace if only the root has voted no:
// its processes were refused, or were killed before they were in Init.
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
