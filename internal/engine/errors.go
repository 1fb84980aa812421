package engine

import (
	"errors"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// Unfit is the error of a receive with a message that does not fit: errors.Is matches ErrTruncated
// or ErrType. Sizes are in bytes.
type Unfit struct {
	Err   error
	Elem  uint8 // of the message ...
	Size  int
	Wants uint8 // ... and of the receive
	Room  int
}

// Error implements error.
func (u *Unfit) Error() string { return u.Err.Error() }

// Unwrap returns the class.
func (u *Unfit) Unwrap() error { return u.Err }

// The error classes that the engine itself raises; package comm re-exports them.
var (
	ErrTruncated   = errors.New("message longer than the buffer")
	ErrType        = errors.New("message of another element type")
	ErrInactive    = errors.New("request not active")
	ErrNotBegun    = errors.New("not begun")
	ErrFreed       = commstate.ErrFreed
	ErrFinalized   = errors.New("world finalized")
	ErrFenced      = errors.New("this process was declared dead by the others")
	ErrNoRoom      = errors.New("no room")
	ErrUnsupported = errors.New("not supported")
)
