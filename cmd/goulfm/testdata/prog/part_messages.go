package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// content is what the rank sends in its i-th message of a part, of n bytes.
func content(rank, i, n int) []byte {
	b := make([]byte, n)
	for at := range b {
		b[at] = byte(at ^ at>>8 ^ at>>13 + 37*rank + 11*i)
	}
	return b
}

// messages passes messages of those sizes to the next rank; every second one is
// received from any.
func messages(sizes ...int) func(*trial) error {
	return func(x *trial) error {
		next, prev := (x.c.Rank()+1)%x.c.Size(), (x.c.Rank()+x.c.Size()-1)%x.c.Size()
		for i, size := range sizes {
			from := prev
			if i%2 == 1 {
				from = comm.Any
			}
			in := make([]byte, size)
			st, err := comm.SendRecv(x.ctx, x.c.To(next).Tag(i), content(x.c.Rank(), i, size), x.c.From(from).Tag(i), in)
			if err != nil {
				return err
			}
			if st.Source != prev || st.Count != size || !slices.Equal(in, content(prev, i, size)) {
				return fmt.Errorf("wrong data: message of %d bytes from %d (want %d bytes from %d)", st.Count, st.Source, size, prev)
			}
		}
		return nil
	}
}

// synchronous has even ranks send to odd ones and back.
func synchronous(x *trial) error {
	me := x.c.Rank()
	peer := me ^ 1
	if peer >= x.c.Size() {
		return nil
	}
	for i, size := range []int{8, 4 << 10, 64 << 10} {
		if (me+i)%2 == 0 {
			if err := comm.Ssend(x.ctx, x.c.To(peer).Tag(i), content(me, i, size)); err != nil {
				return err
			}
			continue
		}
		in := make([]byte, size)
		if _, err := comm.Recv(x.ctx, x.c.From(peer).Tag(i), in); err != nil {
			return err
		}
		if !slices.Equal(in, content(peer, i, size)) {
			return fmt.Errorf("wrong data: synchronous message of %d bytes from %d", size, peer)
		}
	}
	return nil
}

// refusedAtOne has it refuse them to one process: the others must hear of it.
func refusedAtOne(x *trial) error {
	if x.c.Rank() == 1 {
		return refuseRemoteCopies()
	}
	return nil
}

// throughRings has the kernel refuse copies between memories: large messages go
// through the rings then.
func throughRings(x *trial) error {
	if err := refuseRemoteCopies(); err != nil {
		return err
	}
	return messages(8)(x)
}
