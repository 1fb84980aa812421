package collectives

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/kernel"
	"github.com/goulfm/goulfm/ulfm"
)

// A call is one collective at one member: the request, in bytes, and the schedule that performs the
// request by messages. Calls are reused, with their plans and memory.
type call struct {
	engine.Schedule

	ctx   context.Context
	c     *comm.Comm
	e     *engine.Comm
	me, n int
	head  header
	err   error // the first error that was found in the arguments
	// messages reports that members in shared memory can see that this call uses messages.
	messages bool
	bytes    int // as published there

	option      Option
	verb        sched.Verb
	shape       sched.Shape
	layout      sched.Layout
	choiceBytes int // of which the choice of an algorithm may depend
	commutative bool
	unit        int    // bytes of an element
	dst, src    []byte // src is where Input is
	fold        kernel.Func
	panicked    any  // the value of a panic in the program's own operation
	reentered   bool // the operation has called the library

	plan    sched.Plan
	built   plan // arguments from which plan was built
	scratch []uint64
	away    []uint64 // a copy of src
	one     []uint64 // room for an element that is larger than chunk
	displs  [2][]int
	ended   func() // release
	chunk   [foldBytes / 8]uint64
}

// plan has all inputs of a plan, if all blocks are of one length.
type plan struct {
	algorithm                          *sched.Algorithm
	n, me, root, count, segment, radix int
	nodes                              *int // where those of the communicator are; nil: all on one
}

var calls sync.Pool

// aCall returns a call to use, an old one if there is one.
func aCall() *call {
	if x, ok := calls.Get().(*call); ok {
		return x
	}
	x := new(call)
	x.Judge, x.Failed, x.Combine, x.ended = x.judge, x.consequence, x.combine, x.release
	return x
}

// elemOf is the element code, which package comm uses, too. 0: the type cannot be sent.
func elemOf[T any]() uint8 { return byteview.Code[T]() }

// noRoot is the root of collectives that have none.
const noRoot = -1

// prepare returns a call for arguments that are checked next; ctx is unbound for a nonblocking
// call. An error is stored: run and start report the error to the others.
func prepare[T any](ctx context.Context, c *comm.Comm, k kind, root int) *call {
	x := newCall(ctx, c, k, elemOf[T]())
	x.unit = byteview.Size[T]()
	if x.err != nil {
		return x
	}
	if x.Elem == 0 {
		x.unsendable(reflect.TypeFor[T]())
	}
	x.head.what = max(root, 0) & (1<<whatBits - 1)
	x.shape = sched.Shape{N: x.n, Me: x.me, Root: max(root, 0), Nodes: x.e.Nodes()}
	if k.rooted() && (root < 0 || root >= x.n) {
		x.wrong("%w: %d in a communicator of %d", comm.ErrRoot, root, x.n)
		x.shape.Root = 0
	}
	return x
}

func newCall(ctx context.Context, c *comm.Comm, k kind, elem uint8) *call {
	x := aCall()
	x.ctx, x.c, x.head, x.err, x.messages, x.commutative = ctx, c, header{kind: k}, nil, false, true
	x.Elem, x.bytes, x.dst, x.src, x.fold = elem, 0, nil, nil, nil
	if c == nil {
		x.e, x.me, x.n = nil, 0, 1
		x.wrong("%w: no communicator", comm.ErrArgument)
		return x
	}
	if ctx == nil {
		x.ctx = context.Background() // the other members learn of the mistake
		x.wrong("%w: nil context", comm.ErrArgument)
	}
	x.e = door.Engine(c)
	x.me, x.n = x.e.Rank(), x.e.Size()
	return x
}

// wrong stores the error of an argument.
func (x *call) wrong(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

// unsendable notes that elements of a type cannot be sent.
func (x *call) unsendable(t reflect.Type) {
	if why := byteview.Obstacle(t); why != "" {
		x.wrong("%w: elements of %v cannot be sent: %v%s", comm.ErrType, t, t, why)
	}
	x.wrong("%w: %v has no bytes", comm.ErrType, t)
	x.unit = 1
}

// wantLength stores ErrLength unless a slice has the required number of elements.
func (x *call) wantLength(what string, got, want int) {
	if got != want {
		x.wrong("%w: %s has %d elements, want %d", comm.ErrLength, what, got, want)
	}
}

// op is the name of the collective in errors.
func (x *call) op() string {
	if x.ctx == unbound {
		return twins[x.head.kind]
	}
	return x.head.kind.String()
}

// run makes a blocking call by messages.
func (x *call) run() error {
	err := x.enter()
	if err == nil {
		err = x.goThrough()
	}
	return x.end(err)
}

// enter begins a blocking call: with a nil error its schedule can start.
func (x *call) enter() error {
	if x.err == nil {
		x.choose()
	}
	if err := x.admit(); err != nil || !x.e.Shared() {
		return err
	}
	x.messages = true
	if err := x.e.BeginMessages(x.ctx, x.head.kind.String(), x.code()); err != nil {
		return x.refuse(err)
	}
	return nil
}

func (x *call) goThrough() error {
	return x.e.RunSchedule(x.ctx, x.head.kind.String(), &x.Schedule)
}

// end ends a blocking call, with success or not.
func (x *call) end(err error) error {
	if x.messages {
		x.e.EndMessages()
	}
	v := x.panicked
	if err != nil && v == nil {
		err = x.raise(err)
	}
	x.release()
	if v != nil {
		panic(v)
	}
	return err
}

// admit ends a call that cannot start, and notifies the others: every error found here counts as a
// call of the collective.
func (x *call) admit() error {
	if x.c == nil {
		return x.err
	}
	if x.err == nil && x.ctx.Err() == nil && !x.e.Shared() {
		return nil // the start of the schedule makes all checks that follow
	}
	enter := x.e.Enter(ulfm.OpCollective) // R55
	switch {
	case enter != nil:
		return x.orMistake(enter)
	case x.err != nil:
		x.noteWrong()
		return x.refuse(x.err)
	}
	if err := x.ctx.Err(); err != nil {
		return x.refuse(err)
	}
	return nil
}

// orMistake returns the error of this member's own arguments, if there is one, in place of the
// failure or revocation that ends the call. All members may have made the same mistake, and the
// first of them may have ended because of it: the others report the cause, not the death.
func (x *call) orMistake(enter error) error {
	if x.err != nil && ulfm.Recoverable(enter) {
		return x.err
	}
	return enter
}

// refuse notifies the others that this member does not take part because of err.
func (x *call) refuse(err error) error {
	k, err := x.suffered(err)
	x.e.Refuse(false, k)
	return err
}

// suffered returns the consequence of an error for the others, and the error as this member reports
// it.
func (x *call) suffered(err error) (engine.Consequence, error) {
	if d, ok := errors.AsType[*engine.Differs](err); ok {
		err = x.differs(d)
	}
	k := x.consequence(err)
	if x.ctx.Err() != nil && !ulfm.Recoverable(err) {
		k = engine.Consequence{Revoke: true} // this member will not join the call any more
	}
	return k, err
}

// raise adds the operation, the communicator and the ranks to an error, and passes the error to the
// communicator's handler.
func (x *call) raise(err error) error {
	if x.c == nil {
		return &ulfm.Error{Op: x.op(), Err: err}
	}
	var ranks []int
	if e, ok := errors.AsType[*ulfm.Error](err); ok {
		ranks, err = e.Ranks, e.Err
	}
	if errors.Is(err, ulfm.ErrProcFailed) {
		ranks = x.e.GetFailed()
	}
	return door.Raise(x.c, &ulfm.Error{Op: x.op(), Comm: x.e.Name(), Ranks: door.OuterRanks(x.c, ranks), Err: err})
}

// start makes a nonblocking call. The first wait returns an error of its arguments.
func (x *call) start() comm.Request {
	if x.err == nil {
		x.choose()
	}
	if x.err != nil {
		return x.notStarted()
	}
	c, op := x.c, x.op()
	x.Ended = x.ended // soon: nothing is read from x after it has started
	h, err := x.e.StartSchedule(op, &x.Schedule)
	if err != nil {
		x.Ended = nil
		x.err = err
		return x.notStarted()
	}
	return door.Request(c, h, op)
}

// notStarted is the request of a call that x.err has ended before its start.
func (x *call) notStarted() comm.Request {
	err := x.err
	if x.c != nil {
		if enter := x.e.Enter(ulfm.OpCollective); enter != nil {
			err = x.orMistake(enter)
		} else {
			err = x.refuse(err)
		}
	}
	err = x.raise(err)
	x.release()
	return door.NotStarted(err)
}

// keepBytes is the largest memory that a call keeps for the next one.
const keepBytes = 4 << 20

// release gives the call back.
func (x *call) release() {
	x.ctx, x.c, x.e, x.err, x.Ended, x.option = nil, nil, nil, nil, nil, Option{}
	x.dst, x.src, x.fold, x.panicked, x.reentered, x.Bufs = nil, nil, nil, nil, false, [3][]byte{}
	x.shape.In, x.shape.Out, x.shape.Sources, x.shape.Dests, x.shape.Arrivals = sched.Blocks{}, sched.Blocks{}, nil, nil, nil
	if 8*cap(x.scratch) > keepBytes {
		x.scratch = nil
	}
	if 8*cap(x.away) > keepBytes {
		x.away = nil
	}
	if 8*cap(x.one) > keepBytes {
		x.one = nil
	}
	calls.Put(x)
}

// words returns a slice of memory of at least that many bytes, aligned for all
// elements there are.
func words(memory *[]uint64, bytes int) []byte {
	n := (bytes + 7) / 8
	if cap(*memory) < n {
		*memory = make([]uint64, n)
	}
	return byteview.Bytes((*memory)[:n])[:bytes]
}

// begins reports whether b begins off bytes behind the beginning of a.
func begins(a, b []byte, off int) bool {
	return len(b) == 0 || off < len(a) && &a[off] == &b[0]
}
