package commstate

import "errors"

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
