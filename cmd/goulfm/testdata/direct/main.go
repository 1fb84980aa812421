// Direct sends large messages between processes in every way in which they can go,
// be given up, or fail, and checks every byte. It prints "ok" when all is right.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

func main() {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		for _, part := range []struct {
			name string
			run  func(ctx context.Context, w *comm.Comm) error
		}{
			{"sizes", sizes}, {"window", window}, {"crossing", crossing}, {"any source", anySource}, {"dropped", dropped},
			{"withdrawn", withdrawn}, {"synchronous", synchronous}, {"revoked", revoked}, {"pairs", pairs},
		} {
			if err := part.run(ctx, w); err != nil {
				return fmt.Errorf("%s: rank %d: %w", part.name, w.Rank(), err)
			}
			if err := collectives.Barrier(ctx, w); err != nil {
				return fmt.Errorf("after %s: %w", part.name, err)
			}
		}
		if w.Rank() == 0 {
			fmt.Println("ok")
		}
		return nil
	})
}

// fill writes what the k-th message holds.
func fill(buf []byte, k int) []byte {
	x := uint32(k)*2654435761 + 1
	for i := range buf {
		x = x*1664525 + 1013904223
		buf[i] = byte(x >> 24)
	}
	return buf
}

func check(got []byte, k int) error {
	want := fill(make([]byte, len(got)), k)
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("message %d of %d bytes differs at byte %d", k, len(got), i)
		}
	}
	return nil
}

// sizes: whole messages, and messages longer than their receive.
func sizes(ctx context.Context, w *comm.Comm) error {
	for k, n := range []int{8192, 8193, 8200, 12_288, 12_289, 20_000, 65_536, 131_071, 131_073, 300_001, 1 << 20, 5<<20 + 3} {
		for _, room := range []int{n, n - 1, n / 2, 1, 0} {
			switch w.Rank() {
			case 0:
				if err := comm.Send(ctx, w.To(1), fill(make([]byte, n), k)); err != nil {
					return err
				}
			case 1:
				buf := make([]byte, room)
				st, err := comm.Recv(ctx, w.From(0), buf)
				if room < n != errors.Is(err, comm.ErrTruncated) || room == n && err != nil || st.Count != room || st.Source != 0 {
					return fmt.Errorf("%d bytes into %d: %+v, %w", n, room, st, err)
				}
				if err := check(buf, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// window: more messages under way than there are accounts, received in another order.
func window(ctx context.Context, w *comm.Comm) error {
	const many, bytes = 300, 10_000
	var rs []comm.Request
	bufs := make([][]byte, many)
	for i := range bufs {
		k := i
		switch w.Rank() {
		case 0:
			bufs[i] = fill(make([]byte, bytes+i), k)
			rs = append(rs, comm.Isend(w.To(1).Tag(k), bufs[i]))
		case 1:
			k = many - 1 - i
			bufs[k] = make([]byte, bytes+k)
			rs = append(rs, comm.Irecv(w.From(0).Tag(k), bufs[k]))
		}
	}
	if err := comm.WaitAll(ctx, rs...); err != nil {
		return err
	}
	for k, b := range bufs {
		if w.Rank() == 1 {
			if err := check(b, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// crossing: everybody sends to everybody at once.
func crossing(ctx context.Context, w *comm.Comm) error {
	const bytes = 700_000
	for round := range 6 {
		var rs []comm.Request
		in := make([][]byte, w.Size())
		for r := range w.Size() {
			in[r] = make([]byte, bytes)
			rs = append(rs, comm.Irecv(w.From(r), in[r]))
		}
		for r := range w.Size() {
			rs = append(rs, comm.Isend(w.To(r), fill(make([]byte, bytes), round*100+w.Rank()*10+r)))
		}
		if err := comm.WaitAll(ctx, rs...); err != nil {
			return err
		}
		for r := range w.Size() {
			if err := check(in[r], round*100+r*10+w.Rank()); err != nil {
				return err
			}
		}
	}
	return nil
}

// anySource: receives that take what comes, before and after it came.
func anySource(ctx context.Context, w *comm.Comm) error {
	const rounds, bytes = 30, 40_000
	if w.Rank() != 0 {
		for k := range rounds {
			if err := comm.Send(ctx, w.To(0).Tag(k), fill(make([]byte, bytes), w.Rank()*1000+k)); err != nil {
				return err
			}
		}
		return nil
	}
	next := make([]int, w.Size())
	for range rounds * (w.Size() - 1) {
		buf := make([]byte, bytes)
		st, err := comm.Recv(ctx, w.From(comm.Any).Tag(comm.Any), buf)
		if err != nil {
			return err
		}
		if st.Tag != next[st.Source] {
			return fmt.Errorf("message %d of rank %d overtook %d", st.Tag, st.Source, next[st.Source])
		}
		next[st.Source]++
		if err := check(buf, st.Source*1000+st.Tag); err != nil {
			return err
		}
	}
	return nil
}

// dropped: a request that was given up goes on with what its buffer held.
func dropped(ctx context.Context, w *comm.Comm) error {
	const bytes = 500_000
	for k := range 20 {
		switch w.Rank() {
		case 0:
			buf := fill(make([]byte, bytes), k)
			r := comm.Isend(w.To(1).Tag(k), buf)
			if k%2 == 0 {
				if _, err := comm.Recv(ctx, w.From(1).Tag(99), make([]byte, 1)); err != nil { // it may be under way
					return err
				}
			}
			if err := r.Free(); err != nil {
				return err
			}
			fill(buf, 1000+k)
		case 1:
			buf := make([]byte, bytes)
			r := comm.Irecv(w.From(0).Tag(k), buf)
			if k%2 == 0 {
				if err := comm.Send(ctx, w.To(0).Tag(99), make([]byte, 1)); err != nil {
					return err
				}
			}
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
			if err := check(buf, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// withdrawn: a send that nobody receives is taken back when its context ends, and
// does not arrive.
func withdrawn(ctx context.Context, w *comm.Comm) error {
	const bytes = 100_000
	switch w.Rank() {
	case 0:
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if err := comm.Send(short, w.To(1).Tag(1), fill(make([]byte, bytes), 1)); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a send that nobody receives: %w", err)
		}
		if err := comm.Send(ctx, w.To(1).Tag(2), make([]byte, 1)); err != nil {
			return err
		}
		return comm.Send(ctx, w.To(1).Tag(1), fill(make([]byte, bytes), 2))
	case 1:
		if _, err := comm.Recv(ctx, w.From(0).Tag(2), make([]byte, 1)); err != nil {
			return err
		}
		buf := make([]byte, bytes)
		if _, err := comm.Recv(ctx, w.From(0).Tag(1), buf); err != nil {
			return err
		}
		return check(buf, 2)
	}
	return nil
}

// synchronous: a send that ends only when it is received.
func synchronous(ctx context.Context, w *comm.Comm) error {
	const bytes = 50_000
	switch w.Rank() {
	case 0:
		return comm.Ssend(ctx, w.To(1), fill(make([]byte, bytes), 7))
	case 1:
		buf := make([]byte, bytes)
		if _, err := comm.Recv(ctx, w.From(0), buf); err != nil {
			return err
		}
		return check(buf, 7)
	}
	return nil
}

// revoked: a revocation in the middle of large messages ends them all, and nobody
// writes into a buffer whose receive has ended.
func revoked(ctx context.Context, w *comm.Comm) error {
	const bytes = 2 << 20
	for round := range 8 {
		c, err := w.Dup(ctx)
		if err != nil {
			return err
		}
		peer := c.Rank() ^ 1
		if peer >= c.Size() {
			peer = c.Rank()
		}
		in, out := make([]byte, bytes), fill(make([]byte, bytes), c.Rank())
		for k := 0; ; k++ {
			if c.Rank() == round%c.Size() && k == round%5 {
				if err := c.Revoke(); err != nil {
					return err
				}
			}
			if _, err = comm.SendRecv(ctx, c.To(peer), out, c.From(peer), in); err != nil {
				break
			}
			if err := check(in, peer); err != nil {
				return err
			}
		}
		if !errors.Is(err, ulfm.ErrRevoked) {
			return fmt.Errorf("round %d: %w", round, err)
		}
		fill(in, 77)
		fill(out, 78)
		if _, err := c.Agree(ctx, 1); err != nil {
			return err
		}
		if err := check(in, 77); err != nil {
			return fmt.Errorf("round %d: written after its receive ended: %w", round, err)
		}
		if err := c.Free(); err != nil {
			return err
		}
	}
	return nil
}
