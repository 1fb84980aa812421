package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/goulfm/goulfm/comm"
)

// ErrMember reports that a member failed in its part, for a reason without a class of its own. Only
// the error of that member holds the reason.
var ErrMember = errors.New("a member could not do its part")

// op is a call of this package.
type op int

const (
	open op = iota
	write
	read
	syncing
	closing
	ops int = iota
)

// names are the names of the operations in errors.
var names = [ops]string{"open_all", "write_at_all", "read_at_all", "sync_all", "close_all"}

// classes are the errors that members can report to each other: the first one that matches. Every
// error has a class.
var classes = [...]error{
	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, syscall.ENOSPC, io.ErrUnexpectedEOF,
	fs.ErrInvalid, fs.ErrClosed, comm.ErrType, comm.ErrRevoked, ErrMember,
}

// The flag of an agreement has a bit for each possible error. A member clears the bits of its
// errors, and the agreement is the AND.
//
//	bits     0-15   a class of error, by its place in classes
//	bits    16-23   an operation: each member clears that of its own
//	bits    24-63   the rank of a member with an error, where there are at most 40
const (
	opBits     = 16
	rankBits   = 24
	mostRanked = 64 - rankBits
)

// A vote is one call at one member: its contribution to the agreement.
type vote struct {
	c    *comm.Comm
	op   op
	mine error // the error of this member
}

// begin starts a call. An error means that nothing was done, and that the other members learn
// nothing.
func begin(ctx context.Context, c *comm.Comm, op op) (*vote, error) {
	v := &vote{c: c, op: op}
	switch {
	case c == nil:
		return nil, &comm.Error{Op: names[op], Err: fmt.Errorf("%w: nil communicator", comm.ErrArgument)}
	case ctx == nil:
		return nil, v.fail(nil, fmt.Errorf("%w: nil context", comm.ErrArgument))
	case ctx.Err() != nil:
		return nil, v.fail(nil, fmt.Errorf("%w: %w", comm.ErrNotBegun, ctx.Err()))
	case c.IsRevoked():
		v.mine = comm.ErrRevoked
	}
	return v, nil
}

// agree reports the result of this member to the others, and returns the result of all: nil, or an
// error of one class. The error of Agree, such as comm.ErrProcFailed, takes the place of the error
// of this member.
func (v *vote) agree(ctx context.Context) error {
	all, err := v.c.Agree(ctx, v.flag())
	if e, ok := errors.AsType[*comm.Error](err); ok {
		return &comm.Error{Op: names[v.op], Comm: e.Comm, Ranks: e.Ranks, Err: e.Err} // a handler has had it
	}
	switch class := agreedClass(all); {
	case err != nil:
		return err // of the handler
	case mixed(all):
		return v.fail(nil, fmt.Errorf("%w: one of %v, another one something else", comm.ErrMismatch, names[v.op]))
	case class == nil:
		return nil
	case v.mine == nil:
		return v.fail(v.ranks(all), class)
	case errors.Is(v.mine, class):
		return v.fail(v.ranks(all), v.mine)
	default:
		return v.fail(v.ranks(all), fmt.Errorf("%w; here: %w", class, v.mine))
	}
}

// flag returns the contribution of this member.
func (v *vote) flag() uint64 {
	flag := ^uint64(0) &^ (1 << (opBits + v.op))
	if v.mine != nil {
		flag &^= 1 << classOf(v.mine)
		if v.c.Size() <= mostRanked {
			flag &^= 1 << (rankBits + v.c.Rank())
		}
	}
	return flag
}

// classOf returns the place of an error's class in classes.
func classOf(err error) int {
	i := slices.IndexFunc(classes[:], func(class error) bool { return errors.Is(err, class) })
	if i < 0 {
		return len(classes) - 1
	}
	return i
}

// agreedClass returns the first class that a member has reported, or nil.
func agreedClass(all uint64) error {
	for i, class := range classes {
		if all>>i&1 == 0 {
			return class
		}
	}
	return nil
}

// mixed reports whether members were in different operations.
func mixed(all uint64) bool {
	called := 0
	for i := range ops {
		if all>>(opBits+i)&1 == 0 {
			called++
		}
	}
	return called > 1
}

// ranks returns the members that had an error, if the communicator has at most 40 members.
func (v *vote) ranks(all uint64) (ranks []int) {
	for r := range min(v.c.Size(), mostRanked) {
		if all>>(rankBits+r)&1 == 0 {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// fail returns an error of the call, after the error handler of the communicator.
func (v *vote) fail(ranks []int, err error) error {
	return door.Raise(v.c, &comm.Error{Op: names[v.op], Comm: v.c.Name(), Ranks: ranks, Err: err})
}
