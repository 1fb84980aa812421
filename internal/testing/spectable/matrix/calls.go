package matrix

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
)

// A Call is one call of the API in the table.
type Call struct {
	Name  string
	Op    string // the operation in its errors
	Class spectable.Class
	Value bool // its message is a value, not a slice of numbers
	World bool // the call is made on the world
	Do    func(ctx context.Context, s *site) error
}

// A site is the place of a call.
type site struct {
	c    *comm.Comm
	rank int
	// polled is called after the first poll of a call that continues to poll.
	polled func()
	// living are the ranks that are alive when the cell ends.
	living []int
	dead   []int
	// anytime is true if the other side's part may come at any time, even after an error has been
	// returned.
	anytime bool
	// revoked is true if the communicator is revoked during the call, perhaps only after the call
	// has returned because of a death.
	revoked bool
}

// long exceeds the size of an eager message: the send waits for its receive.
const long = 100_000

// errWrong is a result that breaks the contract of the call.
var errWrong = errors.New("wrong result")

func unless(right bool) error {
	if right {
		return nil
	}
	return errWrong
}

// Calls returns all calls of the table.
func Calls() []Call {
	var all []Call
	for _, part := range [][]Call{sends(), receives(), wild(), alone(), verbs(), moreVerbs(), twins(), agreed(), local()} {
		all = append(all, part...)
	}
	return all
}
