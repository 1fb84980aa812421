package comm

import (
	"fmt"
	"os"
)

// An ErrorHandler is told of every error of an operation on its communicator,
// before the operation returns; what it returns is what the operation returns. It
// may revoke, acknowledge or shrink the communicator itself (R5). It runs in the
// goroutine of the call, with no lock held: a panic of it goes through the call, and what
// was called counts as over.
type ErrorHandler func(c *Comm, err error) error

// ErrorsReturn returns the error: the default.
func ErrorsReturn(_ *Comm, err error) error { return err }

// ErrorsAbort prints the error and aborts the members of the communicator.
func ErrorsAbort(c *Comm, err error) error {
	return die(c, err)
}

// ErrorsFatal prints the error and aborts the whole job.
func ErrorsFatal(c *Comm, err error) error {
	return die(&Comm{e: c.w.proc.World(), w: c.w}, err)
}

func die(c *Comm, err error) error {
	fmt.Fprintf(os.Stderr, "goulfm: rank %d: %v\n", c.w.proc.Number(), err)
	c.Abort(1)
	return err
}

// SetErrorHandler has h called for every later error on c; nil means
// ErrorsReturn. Communicators that are made of c inherit it (R44).
func (c *Comm) SetErrorHandler(h ErrorHandler) {
	if h == nil {
		h = ErrorsReturn
	}
	c.handler.Store(&h)
}

// raise passes err through the communicator's error handler.
func (c *Comm) raise(err error) error {
	if h := c.handler.Load(); h != nil && err != nil {
		return (*h)(c, err)
	}
	return err
}
