//go:build !linux

package pidfd

import (
	"errors"
	"syscall"
)

// A Handle would be a pidfd.
type Handle struct{}

// New fails.
func New(int) (*Handle, error) { return nil, errors.ErrUnsupported }

// Wait is never called, like the methods below.
func (*Handle) Wait() bool { return false }

// Signal has no effect.
func (*Handle) Signal(syscall.Signal) {}

// Close has no effect.
func (*Handle) Close() {}

// Status returns false.
func (*Handle) Status() (syscall.WaitStatus, bool) { return 0, false }
