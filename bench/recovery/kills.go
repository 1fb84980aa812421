package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
	"github.com/goulfm/goulfm/recovery"
)

// beRank is the program of a rank.
func beRank(o options) bool {
	switch o.mode {
	case "":
		return false
	case "kills":
		k := &killing{rankOption: o.rankOption, out: os.Stdout}
		recovery.Main(recovery.Config{Every: 1, Comm: comm.Config{Warm: k.warm}}, k.run)
	case "commit":
		recovery.Main(o.config(), func(ctx context.Context, w *recovery.World) error { return o.commitAgain(ctx, w, os.Stdout) })
	case "idle":
		recovery.Main(recovery.Config{Every: never}, func(ctx context.Context, w *recovery.World) error { return o.commitInVain(ctx, w, os.Stdout) })
	case "shrink":
		comm.Main(func(ctx context.Context, w *comm.Comm) error { return o.shrinkOnce(ctx, w, os.Stdout) })
	default:
		fmt.Fprintf(os.Stderr, "recovery: -rank %s: want kills, commit, idle or shrink\n", o.mode)
		os.Exit(2)
	}
	return true
}

// A killing is one process of a job in which rank 0, 1, ... die one after the other, -times in all.
type killing struct {
	rankOption
	out    io.Writer
	waited bool // waited as a spare
}

func (k *killing) warm(context.Context) error {
	k.waited = true
	return nil
}

// The output of a replacement: whether the process has waited as a spare.
const (
	cameWarm = "came: warm"
	cameCold = "came: cold"
)

// run is one attempt, so the number of the attempt is the number of deaths plus 1. The others wait
// in a barrier when a rank dies.
func (k *killing) run(ctx context.Context, w *recovery.World) error {
	b, err := openBoard(k.board)
	if err != nil {
		return err
	}
	var ballast []byte
	if w.Role() != recovery.RoleRecovered { // a replacement gets the data from Protect
		ballast = make([]byte, k.bytes)
		for i := range ballast {
			ballast[i] = byte(i)
		}
	}
	begun := time.Now()
	if _, err := w.Protect(ctx, recovery.Slice("ballast", &ballast)); err != nil {
		return err
	}
	took := time.Since(begun)
	if err := collectives.Barrier(ctx, w.Comm()); err != nil {
		return err
	}
	died := w.Attempt() - 1
	if died > 0 && w.Rank() == 0 {
		b.set(2*died-1, nowNs())
	}
	if err := w.CommitNow(ctx); err != nil { // a commit is progress: else recovery.ErrNoProgress would end the job
		return err
	}
	if w.Role() == recovery.RoleRecovered {
		if err := k.tell(w, ballast, took); err != nil {
			return err
		}
	}
	if died >= k.times {
		return nil
	}
	if w.Rank() == died%w.Size() {
		time.Sleep(k.pause)
		b.set(2*died, nowNs())
		trial.Die()
	}
	if err := collectives.Barrier(ctx, w.Comm()); err != nil {
		return err
	}
	return errors.New("the victim has passed the barrier")
}

// tell prints whether a replacement has waited as a spare, and how long it took to have its data,
// beside a copy of them into new memory.
func (k *killing) tell(w *recovery.World, ballast []byte, took time.Duration) error {
	text := cameCold
	if k.waited {
		text = cameWarm
	}
	fmt.Fprintln(k.out, text)
	if k.bytes == 0 {
		return nil
	}
	begun := time.Now()
	if err := copyFresh(ballast); err != nil {
		return err
	}
	fresh := time.Since(begun)
	to := record.NewWriter(k.out, record.JSON)
	return errors.Join(to.Write(record.Record{Bench: "restore", N: w.Size(), Size: k.bytes, Unit: record.Millis, Batches: []float64{millis(took)}}),
		to.Write(record.Record{Bench: "fresh", N: w.Size(), Size: k.bytes, Unit: record.Millis, Batches: []float64{millis(fresh)}}))
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }
