package comm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestStatusBytes: each kind of call that reports a message of 3 records of 12 bytes.
func TestStatusBytes(t *testing.T) {
	type record [3]float32
	receives := map[string]func(ctx context.Context, from comm.Source, buf []record) (comm.Status, error){
		"Recv": comm.Recv[record],
		"Irecv": func(ctx context.Context, from comm.Source, buf []record) (comm.Status, error) {
			return comm.Irecv(from, buf).Wait(ctx)
		},
		"WaitAny": func(ctx context.Context, from comm.Source, buf []record) (comm.Status, error) {
			_, st, err := comm.WaitAny(ctx, comm.Irecv(from, buf))
			return st, err
		},
		"Mrecv": func(ctx context.Context, from comm.Source, buf []record) (comm.Status, error) {
			m, st, err := comm.Mprobe(ctx, from)
			assert.Equal(t, 36, st.Bytes, "Mprobe: %v", err)
			assert.Equal(t, 36, st.Count, "Mprobe knows no elements")
			return comm.Mrecv(ctx, m, buf)
		},
		"Probe": func(ctx context.Context, from comm.Source, buf []record) (comm.Status, error) {
			st, err := comm.Probe(ctx, from)
			assert.Equal(t, 36, st.Bytes, "Probe: %v", err)
			return comm.Recv(ctx, from, buf)
		},
	}
	for name, receive := range receives {
		t.Run(name, func(t *testing.T) {
			commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
				if w.Rank() == 1 {
					ok(t, "send", comm.Send(ctx, w.To(0).Tag(1), make([]record, 3)))
					ok(t, "send", comm.Send(ctx, w.To(0).Tag(2), make([]record, 3)))
					return
				}
				st, err := receive(ctx, w.From(1).Tag(1), make([]record, 5))
				ok(t, name, err)
				assert.Equal(t, comm.Status{Source: 1, Tag: 1, Count: 3, Bytes: 36}, st)
				st, err = receive(ctx, w.From(1).Tag(2), make([]record, 2))
				want(t, "a short buffer", err, comm.ErrTruncated)
				assert.Equal(t, comm.Status{Source: 1, Tag: 2, Count: 2, Bytes: 24}, st)
			})
		})
	}
}
