package matrix

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
)

// A Call is one call of the API as the table makes it.
type Call struct {
	Name  string
	Op    string // what its errors must call it
	Class spectable.Class
	Value bool // its message is a value, not numbers
	World bool // it is made on the world
	Do    func(ctx context.Context, s *site) error
}

// A site is where a call is made.
type site struct {
	c    *comm.Comm
	rank int
	// polled says that the call has looked once and goes on looking.
	polled func()
	// living are the ranks that are alive when the cell ends.
	living []int
	dead   []int
	// anytime says that the other side's part may come at any time, also after an
	// error has been returned.
	anytime bool
	// revoked says that the communicator is revoked during the call: perhaps only after
	// it has returned because of a death.
	revoked bool
}

// long does not fit what is pushed at once: the send waits for its receive.
const long = 100_000

// errWrong is a result that is not what the call promises.
var errWrong = errors.New("wrong result")

func unless(right bool) error {
	if right {
		return nil
	}
	return errWrong
}

// Calls are all calls of the table.
func Calls() []Call {
	var all []Call
	for _, part := range [][]Call{sends(), receives(), wild(), alone(), verbs(), moreVerbs(), twins(), agreed(), local()} {
		all = append(all, part...)
	}
	return all
}
