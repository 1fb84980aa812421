package collectives

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// BcastValue copies *v of the root to every member and overwrites *v there. v is any value that gob
// can encode; else the error Is ErrType. Errors: ErrRoot, and those of all collectives.
func BcastValue[T any](ctx context.Context, c *comm.Comm, root int, v *T, opts ...Option) error {
	x := prepareValue(ctx, c, bcastValue, root).with(opts)
	var b []byte
	switch {
	case v == nil:
		x.wrong("%w: nil pointer", comm.ErrBuffer)
	case x.me == root:
		b = x.encode(func() ([]byte, error) { return encode(v) })
	}
	b, err := x.bcastSized(root, b)
	if err == nil && x.me != root {
		// Not into *v: gob leaves out fields that are zero, and adds to maps.
		var fresh T
		if err = decode(b, &fresh); err == nil {
			*v = fresh
		}
	}
	return x.end(err)
}

// prepareValue is prepare for data that travel as a length and then bytes: two schedules, each with
// a number of its own.
func prepareValue(ctx context.Context, c *comm.Comm, k kind, root int) *call {
	x := prepare[byte](ctx, c, k, root)
	x.Elem = 0
	return x
}

// encode returns the bytes of a value, unless something is wrong already.
func (x *call) encode(value func() ([]byte, error)) []byte {
	if x.err != nil {
		return nil
	}
	b, err := value()
	if err != nil {
		x.wrong("%w", err)
	}
	return b
}

// bcastSized sends the length first, which only the root knows.
func (x *call) bcastSized(root int, b []byte) ([]byte, error) {
	size := lengthWord(b)
	x.do(task{verb: sched.Bcast, dst: size, length: len(size), sized: true})
	if err := x.firstOfTwo(); err != nil {
		return nil, err
	}
	if x.me != root {
		var err error
		if b, err = room(binary.LittleEndian.Uint64(size)); err != nil {
			return nil, x.refuse(err)
		}
	}
	x.do(task{verb: sched.Bcast, dst: b, length: len(b), sized: true})
	return b, x.second()
}

// firstOfTwo makes the first schedule. If the first fails, the second is counted, too, and members
// that have reached the second are notified.
func (x *call) firstOfTwo() error {
	err := x.enter()
	if err == nil {
		err = x.goThrough()
	}
	if err != nil && x.c != nil {
		if k := x.consequence(err); k != (engine.Consequence{}) {
			x.e.Refuse(false, k)
		}
	}
	return err
}

// second makes the second schedule.
func (x *call) second() error {
	x.choose()
	return x.goThrough()
}

// GatherValue returns at the root the values v of all members, in rank order,
// and nil elsewhere. Values are any that gob can encode; else the error Is
// ErrType. Errors: ErrRoot, and those of all collectives.
func GatherValue[T any](ctx context.Context, c *comm.Comm, root int, v T, opts ...Option) ([]T, error) {
	return gatherValues(prepareValue(ctx, c, gatherValue, root).with(opts), root, v)
}

// gatherValues ends x, too.
func gatherValues[T any](x *call, root int, v T) ([]T, error) {
	b := x.encode(func() ([]byte, error) { return encode(&v) })
	parts, err := x.gatherSized(root, b)
	if err != nil || x.me != root {
		return nil, x.end(err)
	}
	all := make([]T, x.n)
	for r := range all {
		if r == root {
			all[r] = v
		} else if err = decode(parts[r], &all[r]); err != nil {
			return nil, x.end(err)
		}
	}
	return all, x.end(nil)
}

// gatherSized gathers the lengths first, and returns the parts at the root.
func (x *call) gatherSized(root int, b []byte) ([][]byte, error) {
	var sizes, all []byte
	if x.me == root {
		sizes = make([]byte, 8*x.n)
	}
	x.do(task{verb: sched.Gather, dst: sizes, src: lengthWord(b), length: 8, sized: true})
	if err := x.firstOfTwo(); err != nil {
		return nil, err
	}
	var counts []int
	if x.me == root {
		var err error
		if counts, all, err = roomForAll(sizes); err != nil {
			return nil, x.refuse(err)
		}
		x.shape.Out = x.wantBlocks("values", len(all), Blocks{Counts: counts}, &x.displs[0])
	}
	x.do(task{verb: sched.Gather, dst: all, src: b, length: len(b), layout: sched.Scattered})
	if err := x.second(); err != nil || x.me != root {
		return nil, err
	}
	parts := make([][]byte, x.n)
	for r, n := range counts {
		parts[r], all = all[:n], all[n:]
	}
	return parts, nil
}

func lengthWord(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(len(b)))
}

// valueBytesMax is the largest message that there is.
const valueBytesMax = 1<<40 - 1

// room returns memory for a value.
func room(n uint64) ([]byte, error) {
	if n > valueBytesMax {
		return nil, fmt.Errorf("%w: values of %d bytes", comm.ErrNoRoom, n)
	}
	return make([]byte, n), nil
}

// roomForAll returns memory for the total of all length words, in bytes.
func roomForAll(words []byte) (counts []int, all []byte, err error) {
	total := uint64(0)
	for ; len(words) > 0; words = words[8:] {
		n := binary.LittleEndian.Uint64(words)
		if n > valueBytesMax {
			total = n
			break
		}
		counts, total = append(counts, int(n)), total+n
	}
	all, err = room(total)
	return counts, all, err
}

// encode returns a value as byteview.EncodeValue has it, with the code of its bytes as the last one.
func encode[T any](v *T) ([]byte, error) {
	b, code, err := byteview.EncodeValue(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", comm.ErrType, err)
	}
	if code == byteview.GobValue {
		return append(b, code), nil
	}
	own := make([]byte, len(b)+1) // b is the memory of the value
	own[copy(own, b)] = code
	return own, nil
}

func decode[T any](b []byte, v *T) error {
	last := len(b) - 1
	if last < 0 {
		return fmt.Errorf("%w: no bytes are no value", comm.ErrType)
	}
	if err := byteview.DecodeValue(b[:last:last], b[last], v); err != nil {
		return fmt.Errorf("%w: %w", comm.ErrType, err)
	}
	return nil
}
