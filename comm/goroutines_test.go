package comm_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/ulfm"
)

// TestManyGoroutinesOfEachRank (R68) exchange at once: pushed and announced
// messages, by all kinds of calls, each with tags of its own.
func TestManyGoroutinesOfEachRank(t *testing.T) {
	const n, workers, rounds = 3, 8, 30
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		var wg sync.WaitGroup
		for g := range workers {
			c := w
			if g%2 == 1 {
				c = d
			}
			wg.Go(func() { ring(ctx, t, c, g, rounds) })
		}
		wg.Wait()
	})
}

// ring passes messages round with the tag g, in a way that depends on g.
func ring(ctx context.Context, t *testing.T, c *comm.Comm, g, rounds int) {
	next, prev := c.To((c.Rank()+1)%c.Size()).Tag(g), c.From((c.Rank()+c.Size()-1)%c.Size()).Tag(g)
	size := []int{1, 3000}[g/2%2]
	for i := range rounds {
		out, in := make([]int, size), make([]int, size)
		out[size-1] = g*1000 + i
		var err error
		switch g % 4 {
		case 0:
			_, err = comm.SendRecv(ctx, next, out, prev, in)
		case 1:
			err = comm.WaitAll(ctx, comm.Irecv(prev, in), comm.Isend(next, out))
		case 2:
			r, s := comm.Irecv(prev, in), comm.Issend(next, out)
			for range 2 {
				if _, _, e := comm.WaitAny(ctx, r, s); e != nil {
					err = e
				}
			}
		case 3:
			s := comm.Isend(next, out)
			if _, err = comm.Probe(ctx, prev); err == nil {
				_, err = comm.Recv(ctx, prev, in)
			}
			ok(t, "isend", waitFor(ctx, s))
		}
		if err != nil || in[size-1] != out[size-1] {
			t.Errorf("goroutine %d, round %d: %d, %v", g, i, in[size-1], err)
			return
		}
	}
}

// TestGoroutinesShareAWildcard: each message goes to exactly one of them.
func TestGoroutinesShareAWildcard(t *testing.T) {
	const senders, workers, each = 3, 5, 100
	var sum atomic.Int64
	commtest.Run(t, senders+1, func(ctx context.Context, w *comm.Comm) {
		var wg sync.WaitGroup
		if w.Rank() > 0 {
			for i := range each {
				ok(t, "send", comm.Send(ctx, w.To(0), []int{w.Rank()*each + i}))
			}
			return
		}
		for range workers {
			wg.Go(func() {
				for range senders * each / workers {
					in := []int{0}
					_, err := comm.Recv(ctx, w.From(comm.Any), in)
					ok(t, "recv", err)
					sum.Add(int64(in[0]))
				}
			})
		}
		wg.Wait()
	})
	wanted := int64(0)
	for i := each; i < (senders+1)*each; i++ {
		wanted += int64(i)
	}
	if sum.Load() != wanted {
		t.Errorf("sum %d, want %d", sum.Load(), wanted)
	}
}

// TestSpecR68FailureMeetsManyGoroutines: a rank dies while all goroutines of the others wait in all
// kinds of calls; each call ends, with success or a failure, the communicator is repaired, and the
// goroutines continue.
func TestSpecR68FailureMeetsManyGoroutines(t *testing.T) {
	const n, workers = 4, 6
	for round := range 5 {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			var wg sync.WaitGroup
			for g := range workers {
				wg.Go(func() {
					for i := 0; ; i++ {
						if w.Rank() == 2 && g == 0 && i == 5*round {
							commtest.Kill(w)
						}
						in, out := make([]int, 2500), make([]int, []int{1, 2500}[g%2])
						next, prev := w.To((w.Rank()+1)%n).Tag(g), w.From((w.Rank()+n-1)%n).Tag(g)
						var err error
						switch g % 3 {
						case 0:
							_, err = comm.SendRecv(ctx, next, out, prev, in)
						case 1:
							err = comm.WaitAll(ctx, comm.Irecv(prev, in), comm.Isend(next, out))
						case 2:
							s := comm.Isend(next, out)
							_, err = comm.Recv(ctx, w.From(comm.Any).Tag(g), in)
							_ = s.Free()
						}
						if errors.Is(err, comm.ErrFenced) {
							return
						}
						if err != nil {
							if !ulfm.Recoverable(err) {
								t.Errorf("rank %d, goroutine %d: %v", w.Rank(), g, err)
							}
							_ = w.Revoke()
							return
						}
					}
				})
			}
			wg.Wait()
			s, err := w.Shrink(ctx)
			if errors.Is(err, comm.ErrFenced) {
				return
			}
			if err != nil || s.Size() != n-1 {
				t.Errorf("rank %d: shrink: %v", w.Rank(), err)
				return
			}
			for g := range workers {
				wg.Go(func() { ring(ctx, t, s, g, 5) })
			}
			wg.Wait()
		})
	}
}

// TestSendAndReceiveAllocateNothing in the steady state. One goroutine makes the
// calls of both ranks, so that none waits: goroutine ranks sleep on channels, one
// made per sleep.
func TestSendAndReceiveAllocateNothing(t *testing.T) {
	world := inproc.New(2)
	var ranks [2]*comm.Comm
	for me := range ranks {
		p := engine.New(world.Port(me), engine.Config{})
		defer p.Close()
		ranks[me] = door.World(p)
	}
	ctx, a, b := t.Context(), ranks[0], ranks[1]
	for name, once := range map[string]func(out, in []float64) error{
		"send and receive": func(out, in []float64) error {
			err := comm.Send(ctx, a.To(1).Tag(3), out)
			_, err2 := comm.Recv(ctx, b.From(0).Tag(3), in)
			return errors.Join(err, err2)
		},
		"from any": func(out, in []float64) error {
			err := comm.Send(ctx, a.To(1).Tag(3), out)
			_, err2 := comm.Recv(ctx, b.From(comm.Any).Tag(comm.Any), in)
			return errors.Join(err, err2)
		},
		"posted": func(out, in []float64) error {
			r, s := comm.Irecv(b.From(0), in), comm.Isend(a.To(1), out)
			_, err := s.Wait(ctx)
			_, err2 := r.Wait(ctx)
			return errors.Join(err, err2)
		},
		"tested": func(out, in []float64) error {
			r, s := comm.Irecv(b.From(0), in), comm.Isend(a.To(1), out)
			_, _, err := s.Test()
			_, over, err2 := r.Test()
			if !over {
				return errors.New("not over")
			}
			return errors.Join(err, err2)
		},
		"to itself": func(out, in []float64) error {
			_, err := comm.SendRecv(ctx, a.To(0), out, a.From(0), in)
			return err
		},
		"nobody": func(out, in []float64) error {
			_, err := comm.SendRecv(ctx, a.To(comm.None), out, a.From(comm.None), in)
			return err
		},
	} {
		for _, n := range []int{1, 512} {
			out, in := make([]float64, n), make([]float64, n)
			per := testing.AllocsPerRun(500, func() {
				if err := once(out, in); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			})
			if per != 0 {
				t.Errorf("%s, %d elements: %v allocations", name, n, per)
			}
		}
	}
}
