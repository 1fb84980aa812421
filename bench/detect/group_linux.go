package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
	"golang.org/x/sys/unix"
)

// A group is a job of several nodes of this machine that is watched.
type group struct {
	nodes  int
	cmd    *exec.Cmd
	events chan event       // closed when the launcher has ended and all is read
	pids   map[int64][2]int // by node: descriptors of its daemon and of its rank
	said   tail             // of standard error; read when events is closed
	err    error            // how the launcher ended; read when events is closed
	left   context.CancelFunc
}

// An event is a line of a rank, or an event of the watch about a node.
type event struct {
	what         string // lineIn, lineKnows, watch.Complete, watch.Suspected, watch.Lost, watch.Frozen, or below
	node, victim int64
	ns           int64
	pids         [2]int
}

// errWrong is the declaration of a node without a fault.
var errWrong = errors.New("a node that lived was declared dead")

// nowNs is CLOCK_MONOTONIC, which all processes of a machine share.
func nowNs() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // this clock exists on every Linux
	}
	return t.Nano()
}

// hostFile is the flag of goulfm run that names a host file.
const hostFile = "--hostfile"

// start starts a job of n nodes with a rank each, which are this program in the given role.
func (b *bench) start(ctx context.Context, n int, flags []string, role ...string) (*group, error) {
	ctx, cancel := context.WithCancel(ctx)
	hosts := []string{"--host", strconv.Itoa(n)}
	if slices.Contains(flags, hostFile) {
		hosts = nil // flags name them
	}
	args := slices.Concat([]string{"run", "--report", "json", "--watch", "--ppn", "1"}, hosts, flags, []string{b.self, beRank}, role)
	g := &group{nodes: n, events: make(chan event, 64*n), pids: map[int64][2]int{}, left: cancel}
	g.cmd = exec.Command(b.goulfm(), args...)
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	errs, err := g.cmd.StderrPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	var readers sync.WaitGroup
	readers.Go(func() { g.readRanks(out) })
	readers.Go(func() { g.readEventLog(ctx, errs, &readers) })
	go func() {
		readers.Wait()
		g.err = g.cmd.Wait()
		close(g.events)
	}()
	return g, nil
}

func (g *group) readRanks(from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		switch what, w, ok := parseLine(lines.Text()); {
		case !ok:
		case what == lineIn:
			g.events <- event{what: what, node: w[0], pids: [2]int{int(w[1]), int(w[2])}}
		default:
			g.events <- event{what: what, node: w[0], victim: w[1], ns: w[2]}
		}
	}
}

// readEventLog keeps the last lines of the launcher and the ranks, and watches the job once the
// path of its socket is known.
func (g *group) readEventLog(ctx context.Context, from io.Reader, readers *sync.WaitGroup) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		g.said.add(lines.Text())
		if socket, ok := socketOf(lines.Text()); ok {
			readers.Go(func() { g.watch(ctx, socket) })
		}
		if failed, ok := failedOf(lines.Text()); ok && failed > 0 {
			g.events <- event{what: someFailed, node: int64(failed)}
		}
	}
}

// watch passes on events about nodes, or reports that the job was over too soon for a watch.
func (g *group) watch(ctx context.Context, socket string) {
	w, err := watch.OpenAt(ctx, socket)
	if err != nil {
		g.events <- event{what: noWatch}
		return
	}
	defer func() { _ = w.Close() }()
	for e, err := range w.Events() {
		if err != nil {
			return // the launcher has ended, or this job was left
		}
		switch ofNode := e.Proc == watch.None && e.Node != watch.None; {
		case e.What == watch.Complete, ofNode && (e.What == watch.Lost || e.What == watch.Suspected || e.What == watch.Frozen):
			g.events <- event{what: e.What, node: int64(e.Node), ns: e.AtNs}
		}
	}
}

// Events of the job.
const (
	noWatch    = "nowatch"    // the job could not be watched
	someFailed = "somefailed" // the job has ended; node is the number of failed ranks
)

// errNoWatch is the error of a job without declarations to wait for.
var errNoWatch = errors.New("the job could not be watched")

// await returns the next event; ok is false when the job is over. An error is the error of ctx.
func (g *group) await(ctx context.Context) (e event, ok bool, err error) {
	select {
	case e, ok = <-g.events:
		return e, ok, nil
	case <-ctx.Done():
		return event{}, true, fmt.Errorf("%w (-limit)", ctx.Err())
	}
}

// exitUsage is the exit code with which the launcher refuses its flags.
const exitUsage = 2

// refused reports whether the job has ended because the launcher refused its flags.
func (g *group) refused() bool {
	var exit *exec.ExitError
	return errors.As(g.err, &exit) && exit.ExitCode() == exitUsage
}

// over is the error of a job that has ended too early.
func (g *group) over() error {
	return errors.Join(errors.New("the job has ended"+g.said.String()), g.err)
}

// awaitIn waits until all ranks are there, and the watcher: an earlier loss would be missing.
func (g *group) awaitIn(ctx context.Context) error {
	for watched := false; len(g.pids) < g.nodes || !watched; {
		e, ok, err := g.await(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("%d of %d nodes are in: %w", len(g.pids), g.nodes, err)
		case !ok:
			return g.over()
		case e.what == watch.Lost:
			return fmt.Errorf("%w: node %d, at the start", errWrong, e.node)
		case e.what == noWatch:
			return errNoWatch
		case e.what == watch.Complete:
			watched = true
			continue
		case e.what != lineIn:
			continue
		}
		var fds [2]int
		for i, pid := range e.pids {
			if fds[i], err = unix.PidfdOpen(pid, 0); err != nil {
				return fmt.Errorf("node %d, process %d: %w", e.node, pid, err)
			}
		}
		g.pids[e.node] = fds
	}
	return nil
}

// The faults of a node.
const (
	faultRank = "rank" // the rank is killed, and its daemon reports the death
	faultKill = "kill" // the daemon is killed, and its rank ends with it
	faultStop = "stop" // both are stopped
)

// strike applies a fault to a node.
func (g *group) strike(node int, fault string) error {
	daemon, rank := g.pids[int64(node)][0], g.pids[int64(node)][1]
	switch fault {
	case faultRank:
		return unix.PidfdSendSignal(rank, unix.SIGKILL, nil, 0)
	case faultKill:
		return unix.PidfdSendSignal(daemon, unix.SIGKILL, nil, 0)
	}
	return errors.Join(unix.PidfdSendSignal(daemon, unix.SIGSTOP, nil, 0), unix.PidfdSendSignal(rank, unix.SIGSTOP, nil, 0))
}

// Within endMax the launcher ends a job by itself if no rank is left, or on request.
const endMax = 10 * time.Second

// end ends all remaining processes of the job, also stopped ones, and returns when nothing runs.
func (g *group) end(victims ...int) {
	defer g.left()
	for _, v := range victims {
		g.kill(v)
	}
	for _, sig := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGKILL} {
		if len(victims) > 0 || sig != 0 { // without a death the ranks have no reason to end
			_ = g.cmd.Process.Signal(sig)
			if g.drain() {
				break
			}
		}
	}
	for node := range g.nodes {
		g.kill(node)
	}
	g.close()
}

// kill ends the processes of a node, if they have not ended.
func (g *group) kill(node int) {
	if fds, ok := g.pids[int64(node)]; ok {
		_ = unix.PidfdSendSignal(fds[0], unix.SIGKILL, nil, 0)
		_ = unix.PidfdSendSignal(fds[1], unix.SIGKILL, nil, 0)
	}
}

func (g *group) close() {
	for _, fds := range g.pids {
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
	}
}

// drain reads the remaining events of the job, and reports whether the job has ended.
func (g *group) drain() bool {
	limit := time.After(endMax)
	for {
		select {
		case _, ok := <-g.events:
			if !ok {
				return true
			}
		case <-limit:
			return false
		}
	}
}
