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
	// ErrNoMaster: no master is known, or none has answered.
	ErrNoMaster = discovery.ErrNoMaster
	// ErrNoService: no server offers the service, and the time of Patience is over.
	ErrNoService = errors.New("no such service")
	// ErrServerLost: the server was lost under a call that is not tried again (AtMostOnce, Tries,
	// Attach).
	ErrServerLost = errors.New("server lost")
	// ErrPoison: three servers were lost under the call.
	ErrPoison = errors.New("too many servers were lost under this call")
	// ErrService: the body has returned an error or has panicked (Error.Text, Error.Stack).
	ErrService = errors.New("the service failed")
	// ErrCodec: the argument or the result cannot be encoded or decoded, or is not of the type of
	// the other side.
	ErrCodec = codec.ErrCodec
	// ErrTooLarge: an encoded argument or result has more than 1 GiB.
	ErrTooLarge = codec.ErrTooLarge
	// ErrGone: no server keeps the call (Attach).
	ErrGone = errors.New("no such call is kept")
	// ErrDenied: the platform refuses this process, for the reason in the text.
	ErrDenied = join.ErrDenied
	// ErrCheckpoint: a checkpoint could not be stored (package server).
	ErrCheckpoint = errors.New("checkpoint failed")
	// ErrVersion: the platform uses another version of the protocol.
	ErrVersion = errors.New("the platform speaks another version of the wire")
	// ErrUnsupported: this machine or platform lacks a requirement of the call, such as a store or
	// a command.
	ErrUnsupported = discovery.ErrUnsupported
)

// Error is an error of a call and its place. Unknown fields are empty.
type Error struct {
	Op      string // the operation: call, dial, register, ...
	Service string // name of the service
	Server  string // name of the server of the attempt
	Attempt int    // number of the attempt, from 1
	Text    string // error text of the service, or a detail
	Stack   string // of the service, if it panicked
	Err     error  // one of the classes of this package, or an error of the system
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
