package comm_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// A particle has padding and a size that is no power of 2.
type particle struct {
	Kind uint8
	At   [3]float64
	Mass float32
	Spin complex64
}

type named struct {
	At   int
	Name string
}

// TestRecords: structs and arrays travel like numbers, in every kind of call.
func TestRecords(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		peer := 1 - w.Rank()
		for _, n := range lengths[:10] {
			out, in := make([]particle, n), make([]particle, n+1)
			for i := range out {
				out[i] = particle{Kind: uint8(w.Rank()), At: [3]float64{float64(i), 2, 3}, Mass: float32(n), Spin: 1i}
			}
			st, err := comm.SendRecv(ctx, w.To(peer).Tag(n), out, w.From(peer).Tag(n), in)
			assert.NoError(t, err)
			assert.Equal(t, comm.Status{Source: peer, Tag: n, Count: n, Bytes: n * int(unsafe.Sizeof(particle{}))}, st)
			for i, v := range in[:n] {
				if v != (particle{Kind: uint8(peer), At: [3]float64{float64(i), 2, 3}, Mass: float32(n), Spin: 1i}) {
					t.Fatalf("length %d: element %d is %+v", n, i, v)
				}
			}
		}
		exchange(ctx, t, w, [2]int{1, 2}, [2]int{3, 4})
		exchange(ctx, t, w, [200]int{199: 7}) // larger than elements of calls that are kept

		two := make([]particle, 2)
		r := comm.Irecv(w.From(peer), two)
		assert.NoError(t, comm.Send(ctx, w.To(peer), []particle{{Kind: 9}}))
		st, err := r.Wait(ctx)
		assert.NoError(t, err)
		assert.Equal(t, 1, st.Count)
		assert.EqualValues(t, 9, two[0].Kind)

		large := make([][200]int, 3)
		r = comm.Irecv(w.From(peer), large)
		assert.NoError(t, comm.Send(ctx, w.To(peer), large[:2]))
		st, err = r.Wait(ctx)
		assert.NoError(t, err)
		assert.Equal(t, 2, st.Count)
	})
}

// TestRecordsOfAnotherLayout are refused as numbers of another type are; names do not
// matter.
func TestRecordsOfAnotherLayout(t *testing.T) {
	type mass struct {
		Class uint8
		Place [3]float64
		Of    float32
		Phase complex64
	}
	type swapped struct {
		Mass float32
		At   [3]float64
		Kind uint8
		Spin complex64
	}
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		send := func() { assert.NoError(t, comm.Send(ctx, w.To(0), []particle{{Kind: 3}})) }
		send()
		_, err := comm.Recv(ctx, w.From(0), make([]swapped, 1))
		assert.ErrorIs(t, err, comm.ErrType)
		send()
		_, err = comm.Recv(ctx, w.From(0), make([]uint8, 100))
		assert.ErrorIs(t, err, comm.ErrType)
		send()
		same := make([]mass, 1)
		_, err = comm.Recv(ctx, w.From(0), same)
		assert.NoError(t, err)
		assert.EqualValues(t, 3, same[0].Class)
	})
}

// TestUnsendable: no call takes elements with pointers, and each error names the field with the
// pointer.
func TestUnsendable(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		to, from, buf := w.To(0), w.From(0), make([]named, 1)
		status := func(_ comm.Status, err error) error { return err }
		assert.NoError(t, comm.Send(ctx, to.Tag(5), []int{1}))
		m, _, err := comm.Mprobe(ctx, from.Tag(5))
		assert.NoError(t, err)
		for call, err := range map[string]error{
			"send":             comm.Send(ctx, to, buf),
			"ssend":            comm.Ssend(ctx, to, buf),
			"recv":             status(comm.Recv(ctx, from, buf)),
			"isend":            waitFor(ctx, comm.Isend(to, buf)),
			"issend":           waitFor(ctx, comm.Issend(to, buf)),
			"irecv":            waitFor(ctx, comm.Irecv(from, buf)),
			"send_init":        comm.SendInit(to, buf).Start(),
			"recv_init":        comm.RecvInit(from, buf).Start(),
			"sendrecv out":     status(comm.SendRecv(ctx, to, buf, from, []int{0})),
			"sendrecv in":      status(comm.SendRecv(ctx, to, []int{0}, from, buf)),
			"sendrecv_replace": status(comm.SendRecvReplace(ctx, to, from, buf)),
			"mrecv":            status(comm.Mrecv(ctx, m, buf)),
		} {
			assert.ErrorIs(t, err, comm.ErrType, call)
			assert.ErrorContains(t, err, "named.Name is a string", call)
		}
		_, err = comm.Mrecv(ctx, m, []int{0})
		assert.NoError(t, err, "the message is still there")
		assert.ErrorIs(t, comm.Send(ctx, to, []struct{}{{}}), comm.ErrType)
		assert.ErrorIs(t, comm.Send(ctx, to, []any{1}), comm.ErrType)
	})
}
