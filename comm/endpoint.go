package comm

import (
	"fmt"
	"math"

	"github.com/goulfm/goulfm/internal/engine"
)

const (
	// Any matches every rank in From, and every tag in Source.Tag.
	Any = -1
	// None is no process: a send to None succeeds at once, a receive from None returns at once with
	// Count 0. None makes borders of a grid ordinary neighbours.
	None = -2
)

// This line does not compile unless the engine uses the same number for Any.
var _ [engine.Any - Any]struct{} = [0]struct{}{}

// A Dest is the destination of a message: a communicator, a rank and a tag.
type Dest struct {
	c    *Comm
	rank int
	tag  int
}

// A Source is the origin of a message: a communicator, a rank or Any, and a tag.
type Source struct {
	c    *Comm
	rank int
	tag  int
}

// To names a rank, or None, as the receiver of a message with tag 0.
func (c *Comm) To(rank int) Dest { return Dest{c: c, rank: rank} }

// From names a rank, Any, or None, as the sender of a message with tag 0.
func (c *Comm) From(rank int) Source { return Source{c: c, rank: rank} }

// Tag returns the same receiver with another tag, 0 to 1<<31-1.
func (d Dest) Tag(t int) Dest { d.tag = t; return d }

// Tag returns the same sender with another tag, 0 to 1<<31-1, or Any.
func (s Source) Tag(t int) Source { s.tag = t; return s }

// Status describes the message that a receive got. After an error without a message, Source and Tag
// may be those of the receive, Any included (R46).
type Status struct {
	Source int // rank of the sender; None after a receive from None
	Tag    int
	Count  int // elements; the same as Bytes for a probe, which does not know the type, and for a value
	Bytes  int // of the message, or of the buffer if that is shorter
}

func (d Dest) check() error {
	switch {
	case d.c == nil:
		return errNoComm
	case d.rank < 0 || d.rank >= d.c.peers():
		return fmt.Errorf("%w: %d in a communicator of %d", ErrRank, d.rank, d.c.peers())
	case d.tag < 0 || d.tag > math.MaxInt32:
		return fmt.Errorf("%w: %d: want 0 to %d", ErrTag, d.tag, math.MaxInt32)
	}
	return nil
}

func (s Source) check() error {
	switch {
	case s.c == nil:
		return errNoComm
	case s.rank != Any && (s.rank < 0 || s.rank >= s.c.peers()):
		return fmt.Errorf("%w: %d in a communicator of %d", ErrRank, s.rank, s.c.peers())
	case s.tag != Any && (s.tag < 0 || s.tag > math.MaxInt32):
		return fmt.Errorf("%w: %d: want 0 to %d, or Any", ErrTag, s.tag, math.MaxInt32)
	}
	return nil
}

// none reports whether the peer of the call is None: the call then succeeds at once. None counts
// only in a call that is otherwise valid; for any other call check returns an error.
func (d Dest) none() bool {
	return d.rank == None && d.c != nil && d.tag >= 0 && d.tag <= math.MaxInt32
}
func (s Source) none() bool {
	return s.rank == None && s.c != nil && s.tag >= Any && s.tag <= math.MaxInt32
}

func (s Source) ranks() []int {
	if s.rank == Any {
		return nil
	}
	return []int{s.rank}
}
