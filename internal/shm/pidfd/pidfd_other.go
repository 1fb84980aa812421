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

// Wait is never called, as the methods below.
func (*Handle) Wait() bool { return false }

// Signal does nothing.
func (*Handle) Signal(syscall.Signal) {}

// Close does nothing.
func (*Handle) Close() {}

// Status knows nothing.
func (*Handle) Status() (syscall.WaitStatus, bool) { return 0, false }
