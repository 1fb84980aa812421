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

// A call is one collective at one member: what was asked for, in bytes, and the
// schedule that does it by messages. Calls are reused, with their plans and memory.
type call struct {
	engine.Schedule

	ctx   context.Context
	c     *comm.Comm
	e     *engine.Comm
	me, n int
	head  header
	err   error // what is wrong with the arguments: the first that was found
	// messages says that others in shared memory see this one go by messages.
	messages bool
	twin     bool // the call does not block: its ctx is a twin
	bytes    int  // as published there

	verb        sched.Verb
	shape       sched.Shape
	layout      sched.Layout
	choiceBytes int // of which the choice of an algorithm may depend
	commutative bool
	unit        int    // bytes of an element
	dst, src    []byte // src is where Input is
	fold        kernel.Func
	panicked    any  // what the program's own operation has panicked with
	reentered   bool // it has called the library

	plan    sched.Plan
	built   plan // what plan was built from
	scratch []uint64
	away    []uint64 // a copy of src
	one     []uint64 // room for an element that is larger than chunk
	displs  [2][]int
	ended   func() // release
	chunk   [foldBytes / 8]uint64
}

// plan is what a plan is a function of, if all blocks are of one length.
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

// elemOf is the element code that package comm uses, too. 0: it cannot be sent.
func elemOf[T any]() uint8 { return byteview.Code[T]() }

// noRoot is the root of collectives that have none.
const noRoot = -1

// prepare returns a call for arguments to be checked; ctx is a twin for a non-blocking
// one. What is wrong is kept: run and start tell the others.
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
	_, x.twin = ctx.(*twin)
	x.Elem, x.bytes, x.dst, x.src, x.fold = elem, 0, nil, nil, nil
	if c == nil {
		x.e, x.me, x.n = nil, 0, 1
		x.wrong("%w: no communicator", comm.ErrRank)
		return x
	}
	x.e = door.Engine(c)
	x.me, x.n = x.e.Rank(), x.e.Size()
	return x
}

// wrong notes what is wrong with an argument.
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

// wantLength notes ErrLength unless a slice has as many elements as it must have.
func (x *call) wantLength(what string, got, want int) {
	if got != want {
		x.wrong("%w: %s has %d elements, want %d", comm.ErrLength, what, got, want)
	}
}

// op is what errors call the collective.
func (x *call) op() string {
	if x.twin {
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

// enter begins a blocking call: a nil error says that its schedule can start.
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

// admit ends a call that cannot start, and tells the others: every error found here
// counts as a call of the collective.
func (x *call) admit() error {
	if x.c == nil {
		return x.err
	}
	if x.err == nil && x.ctx.Err() == nil && !x.e.Shared() {
		return nil // who starts the schedule asks all that follows
	}
	if err := x.e.Enter(ulfm.OpCollective); err != nil { // R55
		return err
	}
	if x.err != nil {
		x.noteWrong()
		return x.refuse(x.err)
	}
	if err := x.ctx.Err(); err != nil {
		return x.refuse(err)
	}
	return nil
}

// refuse tells the others that this member does not take part because of err.
func (x *call) refuse(err error) error {
	k, err := x.suffered(err)
	x.e.Refuse(false, k)
	return err
}

// suffered is what the others must hear of an error, and the error as this member says it.
func (x *call) suffered(err error) (engine.Consequence, error) {
	if d, ok := errors.AsType[*engine.Differs](err); ok {
		err = x.differs(d)
	}
	k := x.consequence(err)
	if x.ctx.Err() != nil && !ulfm.Recoverable(err) {
		k = engine.Consequence{Revoke: true} // it will not come any more
	}
	return k, err
}

// raise says where an error was, and shows it to the communicator's handler.
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

// start makes a non-blocking call. What is wrong with its arguments is the error of
// the first wait.
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
			err = enter
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
	x.ctx, x.c, x.e, x.err, x.Ended = nil, nil, nil, nil, nil
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

// begins says whether b begins where a does, off bytes on.
func begins(a, b []byte, off int) bool {
	return len(b) == 0 || off < len(a) && &a[off] == &b[0]
}
