// Testserver is a server for tests: its bodies report their progress, and wait where a test needs a
// wait.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/subprocess"
	"github.com/goulfm/goulfm/gridrpc/server"

	_ "github.com/goulfm/goulfm/gridrpc/store/jetstream" // for "up --store jetstream"
	_ "github.com/goulfm/goulfm/gridrpc/store/s3"        // for "up --store s3://BUCKET"
)

// Where is the answer of most services.
type Where struct {
	Server  string
	Attempt int
	Value   float64
}

func main() {
	server.Main(func(s *server.Server) error {
		s.Places, s.Queue = 2, 2
		if os.Getenv("TRIAL_HANG") != "" { // a program that never serves
			fmt.Println("hangs")
			select {}
		}
		if join := os.Getenv("TRIAL_JOIN"); join != "" { // a program that joins by itself
			s.Member = &gridrpc.Membership{Token: join, Name: "by-itself"}
		}
		return errors.Join(
			server.Register(s, "square", square, metric()...),
			server.Register(s, "hold", hold),
			server.Register(s, "fail", fail),
			server.Register(s, "panic", crash),
			server.Register(s, "relay", relay),
			server.Register(s, "text", text),
			server.Register(s, "count", count),
			server.Register(s, "script", script),
		)
	})
}

// metric returns the option Metric with the value in the file TRIAL_METRIC/NAME, for tests.
func metric() []server.ServiceOption {
	dir := os.Getenv("TRIAL_METRIC")
	if dir == "" {
		return nil
	}
	return []server.ServiceOption{server.Metric(func() (value float64) {
		text, err := os.ReadFile(filepath.Join(dir, os.Getenv("GRIDRPC_NAME")))
		if err == nil {
			_, err = fmt.Sscan(string(text), &value)
		}
		if err != nil {
			return math.NaN()
		}
		return value
	})}
}

func square(_ context.Context, c *server.Call, in *float64) (*Where, error) {
	return &Where{Server: c.Server(), Attempt: c.Attempt, Value: *in * *in}, nil
}

// hold never ends in attempts below *in, and reports progress.
func hold(ctx context.Context, c *server.Call, in *float64) (*Where, error) {
	c.Progress(1, 2, "holding")
	if c.Attempt < int(*in) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &Where{Server: c.Server(), Attempt: c.Attempt, Value: *in}, nil
}

// relay ends when a test writes to the named pipe *in-ATTEMPT. A cancellation is logged.
func relay(ctx context.Context, c *server.Call, in *string) (*Where, error) {
	c.Progress(1, 2, "waiting")
	written := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(fmt.Sprintf("%s-%d", *in, c.Attempt))
		written <- err
	}()
	select {
	case <-ctx.Done():
		c.Log.Printf("attempt %d was cancelled", c.Attempt)
		return nil, ctx.Err()
	case err := <-written:
		return &Where{Server: c.Server(), Attempt: c.Attempt}, err
	}
}

// text answers with *in bytes.
func text(_ context.Context, _ *server.Call, in *int) (*string, error) {
	out := strings.Repeat("x", *in)
	return &out, nil
}

// Count is the argument of count. Attempt a waits for ever at the number Holds[a-1], if any.
type Count struct {
	To    int // the last number
	Holds []int
}

// Counted is the answer of count.
type Counted struct {
	Server  string
	Attempt int
	From    int    // the number with which this attempt has begun
	Text    string // of the file that has all numbers
}

// count counts, with a checkpoint after each number.
func count(ctx context.Context, c *server.Call, in *Count) (*Counted, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "numbers")
	n := 0
	if err := errors.Join(c.RegisterFile("numbers"), c.State("n", &n)); err != nil {
		return nil, err
	}
	from := n
	for n < in.To {
		if c.Attempt <= len(in.Holds) && n == in.Holds[c.Attempt-1] {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		n++
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprint(f, n, " ")
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if _, err := c.CheckpointNow(ctx); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(path)
	return &Counted{Server: c.Server(), Attempt: c.Attempt, From: from, Text: string(text)}, err
}

// script runs a shell script in the folder of the call, as a program that knows no gridrpc. Its
// output is the answer.
func script(ctx context.Context, c *server.Call, in *string) (*string, error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	environ, err := c.Environ()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", *in)
	subprocess.EndWithParent(cmd)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(environ, fmt.Sprint("ATTEMPT=", c.Attempt)), time.Second
	out, err := cmd.CombinedOutput()
	text := string(out)
	return &text, err
}

func fail(context.Context, *server.Call, *float64) (*Where, error) {
	return nil, errors.New("failure on request")
}

func crash(context.Context, *server.Call, *float64) (*Where, error) { panic("failure on request") }
