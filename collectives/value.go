package collectives

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"fmt"

	"github.com/goulfm/goulfm/comm"
)

// BcastValue copies *v of the root to every member. v is any value that gob can
// encode; else the error Is ErrType. Errors: ErrRoot, and those of all
// collectives.
func BcastValue[T any](ctx context.Context, c *comm.Comm, root int, v *T) error {
	x, err := begin(ctx, c, bcastValue, root, 0)
	if err != nil {
		return err
	}
	if v == nil {
		return x.end(fmt.Errorf("%w: nil pointer", comm.ErrBuffer))
	}
	var b []byte
	if x.me == root {
		if b, err = encode(v); err != nil {
			return x.end(err)
		}
	}
	if err = x.byMessages(0); err == nil {
		b, err = x.bcastSized(root, b)
	}
	if err != nil {
		return x.end(err)
	}
	if x.me != root {
		err = decode(b, v)
	}
	return x.end(err)
}

// bcastSized sends the length first: only the root knows it.
func (x *call) bcastSized(root int, b []byte) ([]byte, error) {
	size := lengthWord(b)
	if err := x.bcast(root, size); err != nil {
		return nil, err
	}
	if x.me != root {
		var err error
		if b, err = room(size); err != nil {
			return nil, err
		}
	}
	return b, x.bcast(root, b)
}

// GatherValue returns at the root the values v of all members, in rank order,
// and nil elsewhere. Values are any that gob can encode; else the error Is
// ErrType. Errors: ErrRoot, and those of all collectives.
func GatherValue[T any](ctx context.Context, c *comm.Comm, root int, v T) ([]T, error) {
	x, err := begin(ctx, c, gatherValue, root, 0)
	if err != nil {
		return nil, err
	}
	b, err := encode(&v)
	if err != nil {
		return nil, x.end(err)
	}
	if err = x.byMessages(0); err != nil {
		return nil, x.end(err)
	}
	if x.me != root {
		if err = x.send(root, lengthWord(b)); err == nil {
			err = x.send(root, b)
		}
		return nil, x.end(err)
	}
	all, err := gatherValues(x, v)
	return all, x.end(err)
}

func gatherValues[T any](x *call, mine T) ([]T, error) {
	all := make([]T, x.n)
	all[x.me] = mine
	for r := range x.n {
		if r == x.me {
			continue
		}
		size := lengthWord(nil)
		if err := x.recv(r, size); err != nil {
			return nil, err
		}
		b, err := room(size)
		if err != nil {
			return nil, err
		}
		if err := x.recv(r, b); err != nil {
			return nil, err
		}
		if err := decode(b, &all[r]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func lengthWord(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(len(b)))
}

// valueBytesMax is the largest message that there is.
const valueBytesMax = 1<<40 - 1

// room returns memory for as many bytes as a length word says.
func room(word []byte) ([]byte, error) {
	n := binary.LittleEndian.Uint64(word)
	if n > valueBytesMax {
		return nil, fmt.Errorf("%w: a value of %d bytes", comm.ErrNoRoom, n)
	}
	return make([]byte, n), nil
}

func encode[T any](v *T) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", comm.ErrType, err)
	}
	return b.Bytes(), nil
}

func decode[T any](b []byte, v *T) error {
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(v); err != nil {
		return fmt.Errorf("%w: %w", comm.ErrType, err)
	}
	return nil
}
