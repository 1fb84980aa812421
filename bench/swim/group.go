package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A side is one of the two systems.
type side interface {
	name() string
	// start returns a group of n members once all of them are in. The victim is the member that
	// will fail.
	start(ctx context.Context, n, victim int) (*group, error)
}

// A group is n running members.
type group struct {
	pids  map[int][]int // by member: its processes, the monitoring one first
	lines chan string
	ends  []func()
}

// nowNs is CLOCK_MONOTONIC, which all processes of a machine share.
func nowNs() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// Lines that members print.
const (
	lineIn    = "in"    // MEMBER PID...: the member is in, with all others
	lineAt    = "at"    // ADDRESS: of a member of SWIM
	lineKnows = "knows" // NS: the moment at which a member knew
)

// read passes on the lines of a program. Other output is for people.
func (g *group) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		switch what, _, _ := strings.Cut(lines.Text(), " "); what {
		case lineIn, lineAt, lineKnows:
			g.lines <- lines.Text()
		default:
			fmt.Fprintln(os.Stderr, lines.Text())
		}
	}
}

// await returns the next line.
func (g *group) await(ctx context.Context) (what string, words []string, err error) {
	select {
	case line := <-g.lines:
		words = strings.Fields(line)
		return words[0], words[1:], nil
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
}

// awaitIn waits until n members are in.
func (g *group) awaitIn(ctx context.Context, n int) error {
	for len(g.pids) < n {
		what, words, err := g.await(ctx)
		if err != nil {
			return fmt.Errorf("%d of %d members are in: %w", len(g.pids), n, err)
		}
		if what != lineIn {
			return fmt.Errorf("%s %v before all are in: a wrong suspicion", what, words)
		}
		numbers := make([]int, len(words))
		for i := range words {
			if numbers[i], err = strconv.Atoi(words[i]); err != nil {
				return err
			}
		}
		g.pids[numbers[0]] = numbers[1:]
	}
	return nil
}

// awaitKnown returns when the next member knew. A member that knew before the fault was wrong.
func (g *group) awaitKnown(ctx context.Context, began int64) (ns int64, err error) {
	what, words, err := g.await(ctx)
	if err != nil {
		return 0, err
	}
	if what != lineKnows {
		return 0, fmt.Errorf("%s %v instead of %s", what, words, lineKnows)
	}
	if ns, err = strconv.ParseInt(words[0], 10, 64); err == nil && ns < began {
		err = errors.New("a member was declared dead that lived")
	}
	return ns, err
}

// strike applies a fault to a member. The monitoring process is killed, or all processes are
// stopped, that process first.
func (g *group) strike(victim int, fault string) error {
	if fault == faultKill {
		return syscall.Kill(g.pids[victim][0], syscall.SIGKILL)
	}
	for _, pid := range g.pids[victim] {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
	}
	return nil
}

// run starts a program of the group, and reads its lines. The program ends with the group.
func (g *group) run(cmd *exec.Cmd) error {
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	go g.read(out)
	g.ends = append(g.ends, func() {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
		out.Close()
	})
	return nil
}

// end ends all remaining processes of the group, also stopped ones.
func (g *group) end() {
	for _, end := range g.ends {
		end()
	}
	for _, pids := range g.pids {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
