package gridrpc

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/gridrpc/internal/codec"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
)

// Classes of errors of clients and servers, for errors.Is.
var (
	ErrNoMaster    = discovery.ErrNoMaster
	ErrNoService   = errors.New("no such service")
	ErrRefused     = errors.New("refused by the server")
	ErrServerLost  = errors.New("server lost")
	ErrPoison      = errors.New("too many servers were lost under this call")
	ErrService     = errors.New("the service failed")
	ErrCodec       = codec.ErrCodec
	ErrTooLarge    = codec.ErrTooLarge
	ErrGone        = errors.New("no such call is kept")
	ErrDenied      = join.ErrDenied
	ErrCheckpoint  = errors.New("checkpoint failed")
	ErrVersion     = errors.New("the platform speaks another version of the wire")
	ErrUnsupported = discovery.ErrUnsupported
)

// Error is an error of a call and its place. Unknown fields are empty.
type Error struct {
	Op      string // the operation: call, dial, register, ...
	Service string
	Server  string
	Attempt int
	Text    string // of the service, or a detail
	Stack   string // of the service, if it panicked
	Err     error  // one of those above, or of the system
}

// Error returns all known fields in one line.
func (e *Error) Error() string {
	text := "gridrpc: " + e.Op
	if e.Service != "" {
		text += " " + e.Service
	}
	if e.Server != "" {
		text += " at " + e.Server
	}
	if e.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", e.Attempt)
	}
	text += ": " + e.Err.Error()
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
