package engine

import "errors"

// The error classes that the engine itself raises; package comm re-exports them.
var (
	ErrTruncated   = errors.New("message longer than the buffer")
	ErrType        = errors.New("message of another element type")
	ErrInactive    = errors.New("request not active")
	ErrFreed       = errors.New("communicator freed")
	ErrFinalized   = errors.New("world finalized")
	ErrFenced      = errors.New("this process was declared dead by the others")
	ErrNoRoom      = errors.New("message too long")
	ErrUnsupported = errors.New("not supported")
	ErrMismatch    = errors.New("members called different operations")
)
