package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/bench/internal/processes"
)

// work describes a job.
type work struct {
	program string // the folder of the server
	service string
	call    func(ctx context.Context, c *gridrpc.Client) error
}

func waiting(seconds float64) work {
	return work{"./bench/farm/wait", "wait", func(ctx context.Context, c *gridrpc.Client) error {
		_, err := gridrpc.Service[float64, float64](c, "wait").Call(ctx, &seconds, gridrpc.Amount(seconds))
		return err
	}}
}

// product is as in examples/dgemm, which checks its result.
type product struct {
	N    int    `json:"n"`
	Seed uint64 `json:"seed"`
}

type produced struct {
	Sum     float64 `json:"sum"`
	Error   float64 `json:"error"`
	Attempt int     `json:"attempt"`
	Server  string  `json:"server"`
}

func multiplying(n int) work {
	amount := gridrpc.Amount(2 * float64(n) * float64(n) * float64(n))
	return work{"./examples/dgemm", "dgemm", func(ctx context.Context, c *gridrpc.Client) error {
		_, err := gridrpc.Service[product, produced](c, "dgemm").Call(ctx, &product{N: n, Seed: 1}, amount, gridrpc.InCodec(gridrpc.JSON))
		return err
	}}
}

// onProcesses runs a farm on real processes, and returns the end of each job.
func onProcesses(ctx context.Context, c curve, p plan, w work) (done []float64, err error) {
	dir, err := os.MkdirTemp("", "farm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	flags := []string{"--tree", p.sites, "--no-restart", "--store", ""}
	if !c.mends {
		flags = append(flags, "--no-recovery")
	}
	real, err := processes.Start(ctx, dir, w.program, flags...)
	if err != nil {
		return nil, err
	}
	defer real.End()
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		return nil, err
	}
	defer client.Close()
	servers, err := p.servers()
	if err != nil {
		return nil, err
	}
	if err := processes.AwaitServers(ctx, client, w.service, servers); err != nil {
		return nil, err
	}
	begun := time.Now()
	err = p.drive(func() error { return w.call(ctx, client) }, func(n int) error {
		done = append(done, time.Since(begun).Seconds())
		if !c.deaths {
			return nil
		}
		return real.Signal(syscall.SIGKILL, p.victims(n)...)
	})
	return done, err
}

// drive submits jobs, and reports the number of completed ones.
func (p plan) drive(call func() error, told func(n int) error) error {
	results := make(chan error)
	stop := make(chan struct{})
	defer close(stop)
	submitted := 0
	submit := func(n int) {
		for range min(n, p.jobs-submitted) {
			submitted++
			go func() {
				err := call()
				select {
				case results <- err:
				case <-stop:
				}
			}()
		}
	}
	submit(p.first)
	for n := 1; n <= p.jobs; n++ {
		err := <-results
		if err == nil {
			err = told(n)
		}
		if err != nil {
			return err
		}
		if n%p.step == 0 {
			submit(p.step)
		}
	}
	return nil
}
