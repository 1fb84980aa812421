package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/recovery"
)

// never is an interval between commits that no program reaches.
const never = math.MaxInt32

// config is the configuration of the commits.
func (o rankOption) config() recovery.Config {
	cfg := recovery.Config{Every: 1}
	if o.copies {
		cfg.NodeMemory = recovery.NodeMemoryOff
	}
	return cfg
}

// commitAgain changes all protected data of a rank and commits them, again and again. Each time it
// copies the same number of bytes to present memory, and to new memory; all ranks at once. A time
// is the time of the slowest rank, in us.
func (o rankOption) commitAgain(ctx context.Context, w *recovery.World, out io.Writer) error {
	data, other := make([]byte, o.bytes), make([]byte, o.bytes)
	copy(other, data) // now the pages of other are there
	if _, err := w.Protect(ctx, recovery.Slice("data", &data)); err != nil {
		return err
	}
	kinds := []struct {
		name string
		do   func() error
	}{
		{"copy", func() error { copy(other, data); return nil }},
		{"commit", func() error { return w.CommitNow(ctx) }},
		{"fresh", func() error { return copyFresh(data) }},
	}
	took := make([][]float64, len(kinds))
	for range o.times {
		for i := range data {
			data[i]++
		}
		for i, k := range kinds {
			us, err := slowest(ctx, w.Comm(), k.do)
			if err != nil {
				return err
			}
			took[i] = append(took[i], us)
		}
	}
	to := record.AtRoot(w.Rank(), out, record.JSON)
	for i, k := range kinds {
		if err := to.Write(record.Record{Bench: k.name, N: w.Size(), Size: o.bytes, Unit: record.Micros, Batches: took[i]}); err != nil {
			return err
		}
	}
	return nil
}

// slowest makes all ranks do something at once, and returns the time of the slowest, in us.
func slowest(ctx context.Context, c *comm.Comm, do func() error) (float64, error) {
	if err := collectives.Barrier(ctx, c); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := do(); err != nil {
		return 0, err
	}
	return collectives.AllreduceOne(ctx, c, float64(time.Since(begun))/1e3, collectives.Max)
}

// copyFresh copies data to memory that the system has to allocate first.
func copyFresh(data []byte) error {
	fresh, err := syscall.Mmap(-1, 0, len(data), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("map %d bytes: %w", len(data), err)
	}
	copy(fresh, data)
	return syscall.Munmap(fresh)
}

// commitInVain calls Commit when none is due: the mean of a call of each batch, in us, at rank 0.
func (o rankOption) commitInVain(ctx context.Context, w *recovery.World, out io.Writer) error {
	const calls = 100_000
	x := []int{0}
	if _, err := w.Protect(ctx, recovery.Slice("x", &x)); err != nil {
		return err
	}
	var took []float64
	for range o.times {
		begun := time.Now()
		for range calls {
			if err := w.Commit(ctx); err != nil {
				return err
			}
		}
		took = append(took, float64(time.Since(begun))/1e3/calls)
	}
	return record.AtRoot(w.Rank(), out, record.JSON).Write(record.Record{Bench: "idle", N: w.Size(), Unit: record.Micros, Batches: took})
}
