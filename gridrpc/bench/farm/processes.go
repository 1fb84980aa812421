package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
)

// work is what a job is.
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

// product is as in examples/dgemm, which checks what it has computed.
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

// platform is "gridrpc up" and its processes.
type platform struct {
	cmd   *exec.Cmd
	dir   string
	ended chan struct{}
	up    chan struct{} // closed when all were started

	mu   sync.Mutex
	pids map[string]int
}

// processes runs a farm on real processes, and returns when each job was done.
func processes(ctx context.Context, c curve, p plan, w work) (done []float64, err error) {
	dir, err := os.MkdirTemp("", "farm")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	real, err := startPlatform(ctx, dir, c, p, w)
	if err != nil {
		return nil, err
	}
	defer real.end()
	if err := os.Setenv(gridrpc.EnvDir, real.dir); err != nil {
		return nil, err
	}
	client, err := gridrpc.Dial(ctx, "")
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := awaitServers(ctx, client, p); err != nil {
		return nil, err
	}
	begun := time.Now()
	err = p.drive(func() error { return w.call(ctx, client) }, func(n int) error {
		done = append(done, time.Since(begun).Seconds())
		if !c.deaths {
			return nil
		}
		return real.kill(p.victims(n))
	})
	return done, err
}

// drive submits jobs, and tells how many are done.
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

var pidLine = regexp.MustCompile(`(\S+) is process (\d+)$`)

func startPlatform(ctx context.Context, dir string, c curve, p plan, w work) (*platform, error) {
	binary, server := filepath.Join(dir, "gridrpc"), filepath.Join(dir, "server")
	for out, from := range map[string]string{binary: "./cmd/gridrpc", server: w.program} {
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", out, from).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build %s, in the folder of the module: %w\n%s", from, err, text)
		}
	}
	real := &platform{dir: filepath.Join(dir, "platform"), ended: make(chan struct{}), up: make(chan struct{}), pids: map[string]int{}}
	args := []string{"up", "--dir", real.dir, "--tree", p.sites, "--no-restart", "--store", ""}
	if !c.mends {
		args = append(args, "--no-recovery")
	}
	real.cmd = exec.CommandContext(ctx, binary, append(args, server)...)
	real.cmd.Cancel = func() error { return real.cmd.Process.Signal(os.Interrupt) }
	out, err := real.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	real.cmd.Stderr = real.cmd.Stdout
	if err := real.cmd.Start(); err != nil {
		return nil, err
	}
	go real.read(out)
	select {
	case <-real.up:
		return real, nil
	case <-real.ended:
		return nil, fmt.Errorf("gridrpc up has ended: %w", real.cmd.Wait())
	}
}

// read takes the platform's story line by line.
func (r *platform) read(out io.Reader) {
	defer close(r.ended)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := pidLine.FindStringSubmatch(lines.Text()); m != nil {
			r.mu.Lock()
			r.pids[m[1]], _ = strconv.Atoi(m[2])
			r.mu.Unlock()
		}
		if strings.Contains(lines.Text(), "serving in") {
			close(r.up)
		}
	}
}

func (r *platform) kill(names []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if err := syscall.Kill(r.pids[name], syscall.SIGKILL); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (r *platform) end() {
	_ = r.cmd.Process.Signal(os.Interrupt)
	<-r.ended
	_ = r.cmd.Wait()
}

// awaitServers waits until the master knows all servers.
func awaitServers(ctx context.Context, c *gridrpc.Client, p plan) error {
	want, err := p.servers()
	if err != nil {
		return err
	}
	for {
		offers, err := c.Offers(ctx)
		if err != nil {
			return err
		}
		if len(offers) == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
