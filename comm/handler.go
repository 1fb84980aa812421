package comm

// An ErrorHandler receives every error of an operation on its communicator before the operation
// returns. The operation returns the result of the handler. The handler may itself revoke,
// acknowledge or shrink the communicator (R5). The handler runs in the goroutine of the call, with
// no lock held: a panic in the handler unwinds through the call, and the operation counts as over.
// For an error of their agreement, Spawn and Replace run the handler in a goroutine of their own,
// where a panic ends the process. If such a call has abandoned its wait and fails later, the
// handler receives that error, too.
type ErrorHandler func(c *Comm, err error) error

// ErrorsReturn returns the error: the default.
func ErrorsReturn(_ *Comm, err error) error { return err }

// ErrorsAbort reports the error in Config.Log and aborts the members of the communicator.
func ErrorsAbort(c *Comm, err error) error {
	return die(c, err)
}

// ErrorsFatal reports the error in Config.Log and aborts the whole job.
func ErrorsFatal(c *Comm, err error) error {
	return die(&Comm{e: c.w.proc.World(), w: c.w}, err)
}

func die(c *Comm, err error) error {
	reportFailure(c.w.log, c.w.proc.Number(), err)
	c.Abort(1)
	return err
}

// SetErrorHandler makes later errors on c call h; nil means ErrorsReturn. Communicators made from c
// inherit the handler (R44).
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
