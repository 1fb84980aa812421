package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

func init() { modes["everything"] = everything }

// everything uses every protocol - messages of all sizes, any-source receives,
// agreement, dup, revoke, shrink, finalize - and repairs by shrink whenever a
// rank dies. Rank 0 of the last communicator prints its size.
func everything(ctx context.Context, w *comm.Comm) error {
	for c := w; ; {
		err := round(ctx, c)
		good := uint64(1)
		switch {
		case err == nil:
		case ulfm.Recoverable(err):
			good = 0
			if err := c.Revoke(); err != nil {
				return err
			}
		default:
			return err
		}
		good, err = c.Agree(ctx, good)
		if err != nil && !ulfm.Recoverable(err) {
			return err
		}
		if err == nil && good == 1 {
			if c.Rank() == 0 {
				fmt.Println("left", c.Size())
			}
			return nil
		}
		if c, err = c.Shrink(ctx); err != nil {
			return err
		}
	}
}

var sizes = []int{0, 8, 40, 41, 3000, 16 << 10, 16<<10 + 1, 50_000}

// round passes messages of every size round the ring and checks each byte.
func round(ctx context.Context, c *comm.Comm) error {
	next, prev := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for i, size := range sizes {
		in, out := make([]byte, size), bytes.Repeat([]byte{byte(c.Rank() + i)}, size)
		from := prev
		if i%3 == 2 {
			from = comm.Any
		}
		st, err := comm.SendRecv(ctx, c.To(next).Tag(i), out, c.From(from).Tag(i), in)
		if err != nil {
			return err
		}
		if st.Source != prev || !bytes.Equal(in, bytes.Repeat([]byte{byte(prev + i)}, size)) {
			return fmt.Errorf("message of %d bytes from rank %d (want %d) is wrong", size, st.Source, prev)
		}
	}
	d, err := c.Dup(ctx)
	if err != nil {
		return err
	}
	if _, err := comm.SendRecv(ctx, d.To(prev), []int{c.Rank()}, d.From(next), make([]int, 1)); err != nil {
		return err
	}
	return d.Free()
}
