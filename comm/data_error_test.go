package comm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestMessageThatDoesNotFit: by every way of a message the error has both sides' types and
// lengths, in elements, as fields and in its text.
func TestMessageThatDoesNotFit(t *testing.T) {
	check := func(at string, err, class error, text string, here, there comm.Data) {
		t.Helper()
		assert.ErrorIs(t, err, class, at)
		var e *comm.DataError
		if assert.ErrorAs(t, err, &e, at) {
			assert.Equal(t, here, e.Here, at)
			assert.Equal(t, there, e.There, at)
		}
		assert.ErrorContains(t, err, text, at)
	}
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for _, n := range []int{5, 3000, bulk} {
			if w.Rank() == 1 {
				for range 4 {
					assert.NoError(t, comm.Send(ctx, w.To(0), make([]float64, n)))
				}
				continue
			}
			there := comm.Data{Type: "float64", Count: n}
			_, err := comm.Recv(ctx, w.From(1), make([]float64, 4))
			check("longer", err, comm.ErrTruncated, there.String()+" for a buffer of 4 float64", comm.Data{Type: "float64", Count: 4}, there)
			_, err = comm.Irecv(w.From(1), make([]int32, n)).Wait(ctx)
			check("type", err, comm.ErrType, "element type: "+there.String()+" for a buffer of", comm.Data{Type: "int32", Count: n}, there)
			_, err = comm.Recv(ctx, w.From(comm.Any), make([][2]float64, n))
			check("record", err, comm.ErrType, there.String()+" for a buffer of", comm.Data{Type: comm.TypeName[[2]float64](), Count: n}, there)
			_, _, err = comm.RecvValue[int](ctx, w.From(1))
			check("value", err, comm.ErrType, there.String()+" for a buffer of a value", comm.Data{Type: "a value", Count: -1}, there)
		}
	})
}
