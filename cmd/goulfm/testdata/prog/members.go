package main

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// members computes with a static and a forward member, which a repair leaves to the living. Their
// variables outlive attempts.
func members(ctx context.Context, w *comm.Comm) error {
	var static []int64
	forward := 0
	return recovery.Run(ctx, w, recovery.Config{Every: 5}, func(ctx context.Context, w *recovery.World) error {
		u := 0
		v, err := w.Protect(ctx, recovery.Value("u", &u), recovery.Slice("static", &static, recovery.Static()), recovery.Value("forward", &forward, recovery.Forward()))
		if err != nil {
			return err
		}
		if v.IsZero() {
			static = []int64{int64(100*w.Rank() + 1)}
		}
		if len(static) != 1 || static[0] != int64(100*w.Rank()+1) || forward < u {
			fmt.Printf("wrong: rank %d, attempt %d, version %v: static %v, forward %d, u %d\n", w.Rank(), w.Attempt(), v, static, forward, u)
		}
		for range w.Steps(ctx, 40) {
			if err := collectives.Barrier(ctx, w.Comm()); err != nil {
				return err
			}
			u++
			forward = max(forward, u)
		}
		if w.Err() != nil {
			return w.Err()
		}
		sum, err := collectives.AllreduceOne(ctx, w.Comm(), append(static, 0)[0], collectives.Sum)
		if err == nil && w.Rank() == 0 {
			fmt.Println("result:", u, sum)
		}
		return err
	})
}
