package engine

import (
	"errors"

	"github.com/goulfm/goulfm/ulfm"
)

// The error classes that the engine itself raises; package comm re-exports them.
var (
	ErrTruncated   = errors.New("message longer than the buffer")
	ErrType        = errors.New("message of another element type")
	ErrInactive    = errors.New("request not active")
	ErrNotBegun    = errors.New("not begun")
	ErrFreed       = ulfm.ErrFreed
	ErrFinalized   = errors.New("world finalized")
	ErrFenced      = errors.New("this process was declared dead by the others")
	ErrNoRoom      = errors.New("no room")
	ErrUnsupported = errors.New("not supported")
)
