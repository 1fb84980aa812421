package comm

import (
	"context"
	"fmt"
)

var (
	errNoContext = fmt.Errorf("%w: nil context", ErrArgument)
	errNoComm    = fmt.Errorf("%w: nil communicator", ErrArgument)
)

// given returns the error of a call that waits and that got a nil communicator or a nil context.
func given(ctx context.Context, op string, c *Comm) error {
	switch {
	case c == nil:
		return fail(op, nil, nil, errNoComm)
	case ctx == nil:
		return fail(op, c, nil, errNoContext)
	}
	return nil
}
