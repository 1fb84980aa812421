package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/comm"
)

// ours is the side of goulfm.
type ours struct {
	p      plan
	goulfm string
}

func (ours) name() string { return "goulfm" }

// beRank makes this program a rank.
const beRank = "rank"

// start implements side: a job of n nodes of this machine with a rank each.
func (o ours) start(ctx context.Context, n, victim int) (*group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	g := &group{pids: map[int][]int{}, lines: make(chan string, 4*n)}
	cmd := exec.Command(o.goulfm, "run", "-q", "--host", strconv.Itoa(n), "--ppn", "1", "--period", o.p.period.String(), "--timeout-factor", "5", self, beRank, strconv.Itoa(victim))
	if err = g.run(cmd); err == nil {
		err = g.awaitIn(ctx, n)
	}
	if err != nil {
		g.end()
		return nil, err
	}
	return g, nil
}

// rank waits for the failure of another rank. The daemon of its node is its parent.
func rank(args []string) {
	comm.Main(func(ctx context.Context, w *comm.Comm) error {
		victim, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		fmt.Println(lineIn, w.Rank(), os.Getppid(), os.Getpid())
		if w.Rank() == victim {
			<-ctx.Done()
			return nil
		}
		_, err = comm.Recv(ctx, w.From(victim), make([]byte, 1))
		at := nowNs()
		if !errors.Is(err, comm.ErrProcFailed) {
			return fmt.Errorf("rank %d was to fail: %w", victim, err)
		}
		fmt.Println(lineKnows, at)
		return nil
	})
}

// command returns the path of goulfm, and a function that removes the file.
func (p plan) command(ctx context.Context) (path string, remove func(), err error) {
	if p.goulfm != "" {
		path, err := filepath.Abs(p.goulfm)
		return path, func() {}, err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/goulfm/goulfm").Output()
	if err != nil {
		return "", nil, fmt.Errorf("go list: %w", err)
	}
	dir, err := os.MkdirTemp("", "goulfm-swim-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "goulfm")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/goulfm")
	build.Dir = strings.TrimSpace(string(root))
	if text, err := build.CombinedOutput(); err != nil {
		remove()
		return "", nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	return path, remove, nil
}
