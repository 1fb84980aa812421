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
	"time"

	"golang.org/x/sys/unix"
)

// A side is one of the detectors that the program compares.
type side interface {
	name() string
	// start returns a group once all of its members have joined.
	start(ctx context.Context, c cell, victim int) (*group, error)
}

// A group is n members that run.
type group struct {
	pids  map[int][]int // by member: its processes, the one that monitors others first
	lines chan string
	ends  []func()
}

// newGroup returns a group without members. The channel has room for each line that n members
// print, so that a reader never blocks after the end of the group.
func newGroup(n int) *group {
	return &group{pids: map[int][]int{}, lines: make(chan string, n*(n+3)+1)}
}

// nowNs is CLOCK_MONOTONIC, which all processes of a machine share.
func nowNs() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// The lines that members print.
const (
	lineIn    = "in"    // MEMBER PID...: the member has joined all others
	lineAt    = "at"    // ADDRESS: the address of a member of SWIM
	lineKnows = "knows" // MEMBER FAILED NS: the moment at which a member learned of a failure
	lineOver  = "over"  // CODE: not printed: the program that is the whole group has ended
)

// errWrong is the error of a run in which a living member was declared dead.
var errWrong = errors.New("a living member was declared dead")

// read passes the lines of a program on. It copies all other output to standard error.
func (g *group) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		switch word, _, _ := strings.Cut(lines.Text(), " "); word {
		case lineIn, lineAt, lineKnows:
			g.lines <- lines.Text()
		default:
			fmt.Fprintln(os.Stderr, lines.Text())
		}
	}
}

// exitUsage is the exit code with which the launcher refuses its flags.
const exitUsage = "2"

// await returns the next line. If a program of the group has ended too early, the group has lost
// living members, unless the program refused its flags.
func (g *group) await(ctx context.Context) (word string, words []string, err error) {
	select {
	case line := <-g.lines:
		words = strings.Fields(line)
		if words[0] == lineOver && words[1] == exitUsage {
			return "", nil, errors.New("the launcher has refused its flags")
		}
		if words[0] == lineOver {
			return "", nil, fmt.Errorf("%w: the job has ended", errWrong)
		}
		return words[0], words[1:], nil
	case <-ctx.Done():
		return "", nil, ctx.Err()
	}
}

// awaitIn waits until n members have joined.
func (g *group) awaitIn(ctx context.Context, n int) error {
	for len(g.pids) < n {
		word, words, err := g.await(ctx)
		if err != nil {
			return fmt.Errorf("%d of %d members have joined: %w", len(g.pids), n, err)
		}
		if word == lineAt {
			continue // of the last member
		}
		if word != lineIn {
			return fmt.Errorf("%w: %s %v before all members have joined", errWrong, word, words)
		}
		member, pids, err := numbersOf(words)
		if err != nil {
			return err
		}
		for _, pid := range pids {
			g.pids[member] = append(g.pids[member], int(pid))
		}
	}
	return nil
}

// numbersOf reads the numbers of a line: of the member first.
func numbersOf(words []string) (member int, more []int64, err error) {
	numbers := make([]int64, len(words))
	for i, w := range words {
		if numbers[i], err = strconv.ParseInt(w, 10, 64); err != nil {
			return 0, nil, err
		}
	}
	if len(numbers) < 2 {
		return 0, nil, fmt.Errorf("%v: want at least two numbers", words)
	}
	return int(numbers[0]), numbers[1:], nil
}

// awaitKnown returns how long after the fault each of the other members had learned of it.
func (g *group) awaitKnown(ctx context.Context, n, victim int, began int64) ([]time.Duration, error) {
	var times []time.Duration
	known := map[int]bool{}
	for len(times) < n-1 {
		word, words, err := g.await(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d of %d members know: %w", len(times), n-1, err)
		}
		member, more, err := numbersOf(words)
		switch {
		case err != nil:
			return nil, err
		case word != lineKnows || len(more) != 2:
			return nil, fmt.Errorf("%s %v: want %s MEMBER FAILED NS", word, words, lineKnows)
		case int(more[0]) != victim:
			return nil, fmt.Errorf("%w: member %d", errWrong, more[0])
		case more[1] < began:
			return nil, fmt.Errorf("%w: the victim, before the fault", errWrong)
		case !known[member]:
			known[member] = true
			times = append(times, time.Duration(more[1]-began))
		}
	}
	return times, nil
}

// strike makes a member fail. It kills the process that monitors others, or stops all processes of
// the member, that process first.
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

// run starts a program of the group and reads its lines. The program ends with the group. If it is
// whole, all members are its children, and its end is the end of the group.
func (g *group) run(cmd *exec.Cmd, whole bool) error {
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.read(out)
		_ = cmd.Wait() // the exit code follows
		if whole {
			g.lines <- fmt.Sprint(lineOver, " ", cmd.ProcessState.ExitCode())
		}
	}()
	g.ends = append(g.ends, func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return nil
}

// end ends all processes of the group, also those that are stopped.
func (g *group) end() {
	for _, pids := range g.pids {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // a stopped process may hold the pipe of a program
		}
	}
	for _, end := range g.ends {
		end()
	}
}
