package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/ulfm"
)

// shrinkOnce kills the ranks of -lost at once, while the others are in a barrier. The survivors
// revoke the communicator and shrink until all the dead are out. They print the time from Revoke
// on, at the slowest rank, in us.
func (o rankOption) shrinkOnce(ctx context.Context, w *comm.Comm, out io.Writer) error {
	if err := collectives.Barrier(ctx, w); err != nil {
		return err
	}
	if slices.Contains(o.lost, w.Rank()) {
		time.Sleep(o.pause)
		trial.Die()
	}
	if err := collectives.Barrier(ctx, w); !ulfm.Recoverable(err) {
		return err
	}
	_ = w.Revoke() // R13: Revoke cannot fail here
	begun := time.Now()
	c, err := w.Shrink(ctx)
	for err == nil && c.Size() > w.Size()-len(o.lost) {
		c, err = c.Shrink(ctx)
	}
	if err != nil {
		return err
	}
	us, err := collectives.AllreduceOne(ctx, c, float64(time.Since(begun))/1e3, collectives.Max)
	if err != nil {
		return err
	}
	return record.AtRoot(c.Rank(), out, record.JSON).Write(record.Record{Bench: "shrink", N: w.Size(), Size: len(o.lost), Unit: record.Micros, Batches: []float64{us}})
}
