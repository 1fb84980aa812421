package comm_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// lengths are around the limits of the transport: one cell, several, the largest payload that is
// pushed, and lengths that are announced first.
var lengths = []int{0, 1, 4, 5, 6, 100, 2047, 2048, 2049, 20_003, 300_000}

func TestEveryLengthArrivesWhole(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for _, self := range []bool{false, true} {
			for _, n := range lengths {
				out, in := make([]int64, n), make([]int64, n+1)
				for i := range out {
					out[i] = int64(i*w.Size() + w.Rank())
				}
				peer := 1 - w.Rank()
				if self {
					peer = w.Rank()
				}
				st, err := comm.SendRecv(ctx, w.To(peer).Tag(n), out, w.From(peer).Tag(n), in)
				ok(t, "sendrecv", err)
				if want := (comm.Status{Source: peer, Tag: n, Count: n, Bytes: 8 * n}); st != want {
					t.Errorf("status %v, want %v", st, want)
				}
				for i, v := range in[:n] {
					if v != int64(i*w.Size()+peer) {
						t.Fatalf("length %d: element %d is %d", n, i, v)
					}
				}
				if in[n] != 0 {
					t.Errorf("length %d: written beyond the message", n)
				}
			}
		}
	})
}

type colour uint16

func exchange[T comparable](ctx context.Context, t *testing.T, w *comm.Comm, v ...T) {
	t.Helper()
	in := make([]T, len(v))
	_, err := comm.SendRecv(ctx, w.To(1-w.Rank()), v, w.From(1-w.Rank()), in)
	if err != nil || !slices.Equal(in, v) {
		t.Errorf("%T: sent %v, got %v, %v", v, v, in, err)
	}
}

func TestEveryElementType(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		exchange[int8](ctx, t, w, -128, 127)
		exchange[int16](ctx, t, w, -1<<15, 1<<15-1)
		exchange[int32](ctx, t, w, -1<<31, 1<<31-1)
		exchange[int64](ctx, t, w, -1<<63, 1<<63-1)
		exchange(ctx, t, w, -1, 1)
		exchange[uint8](ctx, t, w, 0, 255)
		exchange[uint16](ctx, t, w, 0, 1<<16-1)
		exchange[uint32](ctx, t, w, 0, 1<<32-1)
		exchange[uint64](ctx, t, w, 0, 1<<64-1)
		exchange[uint](ctx, t, w, 0, 1<<64-1)
		exchange[float32](ctx, t, w, -0.5, 1e30)
		exchange(ctx, t, w, -0.5, 1e300)
		exchange[complex64](ctx, t, w, 1+2i)
		exchange(ctx, t, w, 1+2i)
		exchange(ctx, t, w, true, false, true)
		exchange(ctx, t, w, colour(3), colour(4))
	})
}

// TestOtherElementTypeIsRefused, the same size or not: the receive is over, and
// the next message is not touched.
func TestOtherElementTypeIsRefused(t *testing.T) {
	for _, n := range []int{1, 100_000} { // pushed, and announced
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				for range 4 {
					ok(t, "send", comm.Send(ctx, w.To(0), make([]int64, n)))
				}
				ok(t, "send value", comm.SendValue(ctx, w.To(0), "text"))
				return
			}
			_, err := comm.Recv(ctx, w.From(1), make([]float64, n))
			want(t, "float64", err, comm.ErrType)
			_, err = comm.Recv(ctx, w.From(1), make([]int32, 2*n))
			want(t, "int32", err, comm.ErrType)
			_, _, err = comm.RecvValue[int64](ctx, w.From(1))
			want(t, "value", err, comm.ErrType)
			_, err = comm.Recv(ctx, w.From(1), make([]int64, n))
			ok(t, "the right type", err)
			_, err = comm.Recv(ctx, w.From(1), make([]byte, 1000))
			want(t, "bytes of a value", err, comm.ErrType)
		})
	}
}

func TestValueOfAnotherType(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		ok(t, "send", comm.SendValue(ctx, w.To(0), map[string]int{"a": 1}))
		_, _, err := comm.RecvValue[[]string](ctx, w.From(0))
		want(t, "another value", err, comm.ErrType)
		works(ctx, t, w)
	})
}

// TestTruncatedFillsTheBuffer, and nothing beyond the buffer; the rest of the message is discarded,
// the next message is whole (MPI 3.2.4).
func TestTruncatedFillsTheBuffer(t *testing.T) {
	for _, n := range []int{5, 1000, 100_000} {
		for _, room := range []int{0, 1, n - 1} {
			commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
				if w.Rank() == 1 {
					out := make([]int, n)
					for i := range out {
						out[i] = i + 1
					}
					ok(t, "send", comm.Send(ctx, w.To(0), out))
					ok(t, "send", comm.Send(ctx, w.To(0), []int{42}))
					return
				}
				in := make([]int, n)
				st, err := comm.Recv(ctx, w.From(1), in[:room])
				want(t, "recv", err, comm.ErrTruncated)
				if st.Count != room || st.Source != 1 {
					t.Errorf("status %+v, want %d elements", st, room)
				}
				for i, v := range in {
					if i < room && v != i+1 || i >= room && v != 0 {
						t.Errorf("%d of %d: element %d is %d", room, n, i, v)
						break
					}
				}
				_, err = comm.Recv(ctx, w.From(1), in[:1])
				if err != nil || in[0] != 42 {
					t.Errorf("the next message: %d, %v", in[0], err)
				}
			})
		}
	}
}

// TestMessagesOfOneSenderDoNotOvertake (MPI 3.5), long ones among short ones, with any tag, in
// receives from Any.
func TestMessagesOfOneSenderDoNotOvertake(t *testing.T) {
	const n = 60
	size := func(i int) int { return []int{1, 5000, 3, 700}[i%4] }
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() > 0 {
			var rs []comm.Request
			for i := range n {
				buf := make([]int, size(i))
				buf[0] = i
				rs = append(rs, comm.Isend(w.To(0).Tag(i%3), buf))
			}
			ok(t, "sends", comm.WaitAll(ctx, rs...))
			return
		}
		seen := map[int]int{1: 0, 2: 0}
		buf := make([]int, 5000)
		for range 2 * n {
			st, err := comm.Recv(ctx, w.From(comm.Any).Tag(comm.Any), buf)
			ok(t, "recv", err)
			if i := seen[st.Source]; buf[0] != i || st.Tag != i%3 || st.Count != size(i) {
				t.Fatalf("from %d: message %d, %+v, want number %d", st.Source, buf[0], st, i)
			}
			seen[st.Source]++
		}
	})
}

// TestTagsSelect: an earlier message with another tag stays where it is.
func TestTagsSelect(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			for tag := range 5 {
				ok(t, "send", comm.Send(ctx, w.To(0).Tag(tag), []int{tag}))
			}
			return
		}
		for _, tag := range []int{3, 0, 4, comm.Any, comm.Any} {
			buf := []int{-1}
			st, err := comm.Recv(ctx, w.From(1).Tag(tag), buf)
			ok(t, "recv", err)
			if buf[0] != st.Tag || tag != comm.Any && st.Tag != tag {
				t.Errorf("asked for tag %d, got %d with %d", tag, buf[0], st.Tag)
			}
		}
		if _, more, _ := comm.Iprobe(w.From(comm.Any).Tag(comm.Any)); more {
			t.Error("a message is left")
		}
	})
}

// TestAnyTakesInOrderOfPosting: of two receives that match the earlier one gets
// the message (MPI 3.5), also where one names the source and one does not.
func TestAnyTakesInOrderOfPosting(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_, err := comm.Recv(ctx, w.From(0), []int{0})
			ok(t, "go", err)
			for i := range 4 {
				ok(t, "send", comm.Send(ctx, w.To(0).Tag(7), []int{i}))
			}
			return
		}
		bufs := [4][1]int{}
		sources := []comm.Source{w.From(comm.Any).Tag(7), w.From(1).Tag(7), w.From(1).Tag(comm.Any), w.From(comm.Any).Tag(comm.Any)}
		var rs []comm.Request
		for i, s := range sources {
			rs = append(rs, comm.Irecv(s, bufs[i][:]))
		}
		ok(t, "go", comm.Send(ctx, w.To(1), []int{0}))
		ok(t, "receives", comm.WaitAll(ctx, rs...))
		for i := range bufs {
			if bufs[i][0] != i {
				t.Errorf("receive %d got message %d", i, bufs[i][0])
			}
		}
	})
}

// TestNoneIsNobody (R53): all calls succeed at once, with nothing.
func TestNoneIsNobody(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		for call, f := range sends {
			ok(t, call, f(ctx, w.To(comm.None).Tag(3)))
		}
		for call, f := range receives {
			ok(t, call, f(ctx, w.From(comm.None).Tag(comm.Any)))
		}
		in := []int{5}
		st, err := comm.SendRecv(ctx, w.To(comm.None), []int{1}, w.From(comm.None), in)
		if err != nil || st != (comm.Status{Source: comm.None, Tag: comm.Any}) || in[0] != 5 {
			t.Errorf("sendrecv: %+v, %v, buffer %d", st, err, in[0])
		}
		if st, found, err := comm.Iprobe(w.From(comm.None)); !found || st.Count != 0 || err != nil {
			t.Errorf("iprobe: %+v, %v, %v", st, found, err)
		}
	})
}

// TestSsendWaitsForTheMatch: a buffered send returns before, an Ssend does not.
func TestSsendWaitsForTheMatch(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		buf := []int{7}
		if w.Rank() == 1 {
			r := comm.Issend(w.To(0).Tag(1), buf)
			ok(t, "sign", comm.Send(ctx, w.To(0).Tag(2), buf)) // in the order of one sender: behind it
			_, err := comm.Recv(ctx, w.From(0), buf)
			ok(t, "sign", err)
			if _, over, err := r.Test(); over || err != nil {
				t.Errorf("over before a receive was posted: %v, %v", over, err)
			}
			ok(t, "sign", comm.Send(ctx, w.To(0).Tag(3), buf))
			ok(t, "issend", waitFor(ctx, r))
			return
		}
		_, err := comm.Recv(ctx, w.From(1).Tag(2), buf)
		ok(t, "sign", err)
		ok(t, "sign", comm.Send(ctx, w.To(1), buf))
		_, err = comm.Recv(ctx, w.From(1).Tag(3), buf)
		ok(t, "sign", err)
		_, err = comm.Recv(ctx, w.From(1).Tag(1), buf)
		ok(t, "recv", err)
	})
}

// TestProbeLeavesTheMessage and its count is in bytes.
func TestProbeLeavesTheMessage(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for _, n := range []int{3, 30_000} {
			if w.Rank() == 1 {
				ok(t, "send", comm.Send(ctx, w.To(0).Tag(6), make([]int32, n)))
				continue
			}
			for range 2 {
				st, err := comm.Probe(ctx, w.From(comm.Any).Tag(comm.Any))
				if want := (comm.Status{Source: 1, Tag: 6, Count: 4 * n, Bytes: 4 * n}); err != nil || st != want {
					t.Errorf("probe: %+v, %v, want %+v", st, err, want)
				}
			}
			st, err := comm.Recv(ctx, w.From(1).Tag(6), make([]int32, n))
			if err != nil || st.Count != n {
				t.Errorf("recv: %+v, %v", st, err)
			}
		}
	})
}

// TestProbeSeesWhatOtherGoroutinesBringIn. A probe waits. Its message arrives through the call of
// another goroutine: a send to this rank, or a receive that takes several frames out of the ring.
func TestProbeSeesWhatOtherGoroutinesBringIn(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for i := range 100 {
			if w.Rank() == 1 {
				_, err := comm.Recv(ctx, w.From(0), []int{0})
				ok(t, "go", err)
				ok(t, "send", comm.Send(ctx, w.To(0).Tag(1), []int{i}))
				ok(t, "send", comm.Send(ctx, w.To(0).Tag(2), []int{i}))
				continue
			}
			var probes sync.WaitGroup
			for _, from := range []comm.Source{w.From(1).Tag(1), w.From(0).Tag(3), w.From(0).Tag(4)} {
				probes.Go(func() {
					_, err := comm.Probe(ctx, from)
					ok(t, "probe", err)
				})
			}
			for len(door.Engine(w).Proc().Waits()) < i%4 { // before, after, and between
			}
			ok(t, "go", comm.Send(ctx, w.To(1), []int{0}))
			_, err := comm.Recv(ctx, w.From(1).Tag(2), []int{0})
			ok(t, "recv", err)
			ok(t, "to itself", comm.Send(ctx, w.To(0).Tag(3), []int{0}))
			late := comm.Issend(w.To(0).Tag(4), []int{0})
			probes.Wait()
			for _, from := range []comm.Source{w.From(1).Tag(1), w.From(0).Tag(3), w.From(0).Tag(4)} {
				_, err := comm.Recv(ctx, from, []int{0})
				ok(t, "recv", err)
			}
			ok(t, "issend", waitFor(ctx, late))
		}
	})
}

// TestRecvValueByManyGoroutines: exactly one of them gets each value, whole. Between a probe and a
// receive another goroutine could take the message.
func TestRecvValueByManyGoroutines(t *testing.T) {
	const n, workers = 600, 6
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			for i := range n {
				ok(t, "send", comm.SendValue(ctx, w.To(0).Tag(i%3), make([]byte, i)))
			}
			return
		}
		var mu sync.Mutex
		seen := map[int]int{}
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range n / workers {
					v, st, err := comm.RecvValue[[]byte](ctx, w.From(comm.Any).Tag(comm.Any))
					if err != nil || st.Source != 1 || st.Tag != len(v)%3 {
						t.Errorf("value of %d bytes: %+v, %v", len(v), st, err)
					}
					mu.Lock()
					seen[len(v)]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for i := range n {
			if seen[i] != 1 {
				t.Errorf("value %d was received %d times", i, seen[i])
			}
		}
	})
}

// TestSendThatIsCancelledSaysWhatHappened: the send is withdrawn and returns the error of its
// context, or it has matched and returns nil; the result never contradicts the outcome. The grant
// of the receiver and the end of the context race.
func TestSendThatIsCancelledSaysWhatHappened(t *testing.T) {
	const rounds = 800
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for i := range rounds {
			payload, sent := w.From(0).Tag(3*i), []bool{false}
			if w.Rank() == 1 {
				_, err := comm.Recv(ctx, w.From(0).Tag(3*i+1), sent)
				ok(t, "go", err)
				r := comm.Irecv(payload, []int{0})
				_, err = comm.Recv(ctx, w.From(0).Tag(3*i+2), sent)
				ok(t, "outcome", err)
				_, over, err := r.Test()
				ok(t, "test", err)
				if over != sent[0] {
					t.Errorf("round %d: received %v, but the sender was told %v", i, over, sent[0])
				}
				if !over && !r.Cancel() {
					t.Errorf("round %d: the receive is neither over nor can it be withdrawn", i)
				}
				continue
			}
			short, cancel := context.WithCancel(ctx)
			var wg sync.WaitGroup
			wg.Go(func() {
				ok(t, "go", comm.Send(ctx, w.To(1).Tag(3*i+1), sent))
				for range i % 8 {
					_ = w.IsRevoked() // takes the lock, as other calls do
				}
				cancel()
			})
			err := comm.Ssend(short, w.To(1).Tag(3*i), []int{i})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			wg.Wait()
			ok(t, "outcome", comm.Send(ctx, w.To(1).Tag(3*i+2), []bool{err == nil}))
		}
	})
}

// TestReceiveThatIsCancelledIsWithdrawn: the message stays for the next one.
func TestReceiveThatIsCancelledIsWithdrawn(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		for _, from := range []comm.Source{w.From(0), w.From(comm.Any)} {
			short, cancel := context.WithCancel(ctx)
			done := make(chan error)
			in := []int{0}
			go func() {
				_, err := comm.Recv(short, from, in)
				done <- err
			}()
			for len(door.Engine(w).Proc().Waits()) == 0 {
			}
			cancel()
			want(t, "recv", <-done, context.Canceled)
			ok(t, "send", comm.Send(ctx, w.To(0), []int{3}))
			out := []int{0}
			_, err := comm.Recv(ctx, from, out)
			if err != nil || in[0] != 0 || out[0] != 3 {
				t.Errorf("withdrawn receive got %d, the next one %d, %v", in[0], out[0], err)
			}
		}
	})
}

// TestBytesShareMemory: structs travel as the bytes that they are.
func TestBytesShareMemory(t *testing.T) {
	type point struct {
		X, Y float64
		ID   [2]int32
	}
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		ps := make([]point, 3)
		if w.Rank() == 1 {
			ps[2] = point{1, 2, [2]int32{3, 4}}
		}
		b, err := comm.Bytes(ps)
		ok(t, "bytes", err)
		if len(b) != 3*24 {
			t.Errorf("%d bytes", len(b))
		}
		if w.Rank() == 1 {
			ok(t, "send", comm.Send(ctx, w.To(0), b))
			return
		}
		_, err = comm.Recv(ctx, w.From(1), b)
		if err != nil || ps[2] != (point{1, 2, [2]int32{3, 4}}) {
			t.Errorf("%v, %v", ps, err)
		}
	})
	if b, err := comm.Bytes([]struct{}{{}, {}}); len(b) != 0 || err != nil {
		t.Errorf("empty structs: %v, %v", b, err)
	}
}
