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

const nameOurs = "goulfm"

func (ours) name() string { return nameOurs }

// beRank is the argument with which this program is a rank.
const beRank = "rank"

// start implements side: a job of n nodes of this machine with a rank each.
func (o ours) start(ctx context.Context, c cell, victim int) (*group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"run", "-q", "--host", strconv.Itoa(c.n), "--ppn", "1", "--period", c.period.String(), "--timeout-factor", strconv.Itoa(c.factor)}
	if c.confirm > 0 {
		args = append(args, "--confirm", c.confirm.String())
	}
	g := newGroup(c.n)
	cmd := exec.Command(o.goulfm, append(args, self, beRank, strconv.Itoa(victim))...)
	if err = g.run(cmd, true); err == nil {
		err = g.awaitIn(ctx, c.n)
	}
	if err != nil {
		g.end()
		return nil, err
	}
	return g, nil
}

// rank reports each failure of another rank until the victim has failed. Like the program of the
// papers, it posts a receive from any rank. The daemon of its node is its parent.
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
		reported := map[int]bool{}
		for !reported[victim] {
			_, err = comm.Recv(ctx, w.From(comm.Any), make([]byte, 1))
			at := nowNs()
			if !errors.Is(err, comm.ErrProcFailed) {
				return fmt.Errorf("rank %d must fail: %w", victim, err)
			}
			if _, err := w.AckFailed(w.Size()); err != nil {
				return err
			}
			for _, r := range w.FailedRanks() {
				if !reported[r] {
					reported[r] = true
					fmt.Println(lineKnows, w.Rank(), r, at)
				}
			}
		}
		return nil
	})
}

// command returns the goulfm to use, and a function that removes it.
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
