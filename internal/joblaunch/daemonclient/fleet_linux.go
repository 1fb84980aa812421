package daemonclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A Fleet is the daemons of the nodes of a job. Its methods may be called from any goroutine.
type Fleet struct {
	host  daemon.Host
	job   uint64
	procs int
	nodes []*node
	vigil *membershiphost.Vigil // nil until all are there
	of    []int                 // node of each seat

	wires    *wires // nil: all reach each other directly
	survive  bool   // the job may outlive the launcher
	isLocal  bool   // all nodes are on this machine
	deserted func(why string)

	unwritten func(error) // nil: no node writes output

	late    late
	telling sync.Mutex // orders to all nodes, and the set of these nodes
	history history

	// for starting processes: one after the other, as the holder of a seat is checked first
	starting sync.Mutex

	mu        sync.Mutex
	processes map[int]*process // by seat: the last one that was to be started there
	printing  map[int]*process // by number: those with output that has not ended
	used      []int            // by seat: how many processes had it before
	unmet     unmet
	live      int // not reaped yet
	expected  int // about to be started
	isOver    bool
	begun     bool
	ended     chan struct{}
	halted    chan struct{}
	halting   sync.Once
	writers   sync.WaitGroup // of the output of processes
}

// A process is one that was started on a node.
type process struct {
	seat, pid int
	number    int
	reaped    bool
	heard     bool
	started   chan daemonproto.Started // the answer to a Start after Begin
	taken     chan daemonproto.Taken   // how much of the last input it has read
	// standard output, standard error; nil for an adopted process
	outs    [2]*outlet
	isFound bool
	ends    int // of its streams that have ended
}

// nodeOf returns the node of the process with a number.
func (f *Fleet) nodeOf(proc int) *node { return f.nodes[f.of[job.SeatOf(proc)]] }

// NodeOf returns the number of the node of a seat.
func (f *Fleet) NodeOf(seat int) int { return f.of[seat] }

// tellAll gives an order to all nodes.
func (f *Fleet) tellAll(m daemonproto.Message) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.history.note(m)
	for _, n := range f.there() {
		n.mouth.Say(m)
	}
}

// Announce has all processes know that those of seats below n are there, or will be.
func (f *Fleet) Announce(n int) { f.tellAll(daemonproto.Announce{N: n}) }

// Declare has all processes know that one has departed, and wakes them.
func (f *Fleet) Declare(proc int, left bool) {
	f.tellAll(daemonproto.Declare{Proc: proc, Left: left, Lost: f.nodeOf(proc).isLost()})
}

// WakeAll does nothing: Declare has.
func (f *Fleet) WakeAll() {}

// Signal sends a signal to a process.
func (f *Fleet) Signal(proc int, sig syscall.Signal) {
	f.nodeOf(proc).mouth.Say(daemonproto.Signal{Proc: proc, Sig: int(sig)})
}

// SignalAll sends a signal to all processes.
func (f *Fleet) SignalAll(sig syscall.Signal) { f.tellAll(daemonproto.Signal{Proc: -1, Sig: int(sig)}) }

// KillAll ends all processes.
func (f *Fleet) KillAll() {
	f.tellAll(daemonproto.KillAll{})
	f.halting.Do(func() { close(f.halted) })
}

// Say sends a message to a process.
func (f *Fleet) Say(proc int, m rankproto.Message) {
	if line, err := rankproto.Encode(boot.NowNs(), m); err == nil {
		f.nodeOf(proc).mouth.Say(daemonproto.Say{Proc: proc, Line: line})
	}
}

// EndFenced ends a process that was declared dead and runs on.
func (f *Fleet) EndFenced(proc int) { f.nodeOf(proc).mouth.Say(daemonproto.EndFenced{Proc: proc}) }

// Watch has the deaths of the processes from first on found.
func (f *Fleet) Watch(first, count int) {
	for seat := first; seat < first+count; seat++ {
		f.nodeOf(seat).mouth.Say(daemonproto.Watch{Seat: seat})
	}
}

// WatchLife has processes found that show no life for so long.
func (f *Fleet) WatchLife(after time.Duration) {
	f.tellAll(daemonproto.WatchLife{AfterNs: after.Nanoseconds()})
}

// Serves reports whether a node takes part in the job.
func (f *Fleet) Serves(i int) bool {
	n := f.nodes[i]
	return n.is(isThere) && !n.isLost() && !n.isClosed()
}

// KillNode kills the daemon of a node, and so all that runs there.
func (f *Fleet) KillNode(i int) {
	if f.nodes[i].is(isThere) {
		f.nodes[i].mouth.Say(daemonproto.Die{})
	}
}

// StopNode makes all of a node of this machine stand still, the daemon first: a process unseen by
// the daemon cannot end under a number that another process may get.
func (f *Fleet) StopNode(i int) { f.signalNode(i, syscall.SIGSTOP) }

// ContinueNode has it continue, the processes first: they must not rest on their daemon.
func (f *Fleet) ContinueNode(i int) { f.signalNode(i, syscall.SIGCONT) }

func (f *Fleet) signalNode(i int, sig syscall.Signal) {
	n := f.nodes[i]
	if n.isClosed() {
		return
	}
	pids := []int{n.pid}
	f.mu.Lock()
	for _, seat := range n.seats {
		if p := f.processes[seat]; p != nil && !p.reaped && p.pid > 0 {
			pids = append(pids, p.pid)
		}
	}
	f.mu.Unlock()
	if sig == syscall.SIGCONT {
		slices.Reverse(pids)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
	}
}

// Expect announces that n processes will be started; false: the job is over. Every node stays, for
// any of them may get one.
func (f *Fleet) Expect(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isOver {
		return false
	}
	f.expected += n
	return true
}

// Unexpect records that n of them will not be, or are.
func (f *Fleet) Unexpect(n int) {
	f.mu.Lock()
	f.expected -= n
	f.endIfOver()
	f.mu.Unlock()
}

// endIfOver ends the job when nobody runs and nobody will. The caller holds mu.
func (f *Fleet) endIfOver() {
	if f.begun && f.live == 0 && f.expected == 0 && !f.isOver {
		f.isOver = true
		close(f.ended)
	}
}

// Barred returns the seats of nodes that are lost, are taken back, or are not there yet.
func (f *Fleet) Barred() (seats []int) {
	for _, n := range f.nodes {
		if !n.is(isThere) || n.isNew.Load() || n.isLost() || n.isClosed() || n.leaving.Load() {
			seats = append(seats, n.seats...)
		}
	}
	return seats
}

// OnStarter calls fn, which starts processes, when others that were called before have returned.
func (f *Fleet) OnStarter(fn func()) {
	f.starting.Lock()
	defer f.starting.Unlock()
	fn()
}

// Build runs a command to its end.
func (f *Fleet) Build(dir string, args []string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// Begin calls start, which starts the first processes, and waits until they run.
func (f *Fleet) Begin(start func() error) error {
	if err := start(); err != nil {
		return err
	}
	f.tellAll(daemonproto.Go{})
	for _, n := range f.there() {
		if err := n.awaitBegun(); err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
	}
	f.mu.Lock()
	f.begun = true
	f.endIfOver()
	f.mu.Unlock()
	return nil
}

// Start starts a process on the node of its seat. Before Begin has returned the start is only
// queued.
func (f *Fleet) Start(p daemon.Placement) error {
	n := f.nodeOf(p.Number)
	info, err := json.Marshal(p.Info)
	if err != nil {
		return err
	}
	proc := &process{seat: job.SeatOf(p.Number), number: p.Number, started: make(chan daemonproto.Started, 1), taken: make(chan daemonproto.Taken, 1)}
	proc.outs = [2]*outlet{newOutlet(p.Out, &f.writers), newOutlet(p.Errs, &f.writers)}
	f.mu.Lock()
	later := f.begun
	f.processes[proc.seat], f.printing[proc.number] = proc, proc
	f.live++
	f.mu.Unlock()
	reads := p.Stdin.Name() != os.DevNull
	n.mouth.Say(daemonproto.Start{Proc: p.Number, Path: everywhere(p.Path), Argv: p.Argv, Dir: dirOf(p.Dir), Env: p.Env, Info: info, Stdin: reads})
	if reads {
		go f.feed(n, proc, p.Stdin)
	} else {
		p.Stdin.Close()
	}
	if !later {
		return nil
	}
	return f.awaitStarted(n, proc)
}

// Adopt takes the processes of all seats for started by others; their daemons adopt them. It comes
// before Begin.
func (f *Fleet) Adopt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for seat := range f.procs {
		f.processes[seat] = &process{seat: seat, number: seat, started: make(chan daemonproto.Started, 1), taken: make(chan daemonproto.Taken, 1)}
	}
	f.live += f.procs
}

// awaitStarted waits for the answer to a Start. A process that was started on a node that is lost
// now counts as started, and as dead with its node.
func (f *Fleet) awaitStarted(n *node, proc *process) error {
	var why error
	select {
	case s := <-proc.started:
		if s.Why == "" {
			return nil
		}
		why = errors.New(s.Why)
	case <-n.lost:
		why = ErrNodeLost
	}
	f.mu.Lock()
	if proc.pid != 0 {
		f.mu.Unlock()
		return nil
	}
	if !proc.reaped {
		proc.reaped = true
		f.live--
	}
	f.mu.Unlock()
	proc.endOutput()
	return fmt.Errorf("%s: %w", n, why)
}

// everywhere returns a path by which other processes of this machine find the file that this one
// calls path: a program that was built is a file without a name.
func everywhere(path string) string {
	if rest, ok := strings.CutPrefix(path, "/proc/self/"); ok {
		return fmt.Sprintf("/proc/%d/%s", os.Getpid(), rest)
	}
	return path
}

// dirOf returns the folder in which a process is started: by default that of the launcher.
func dirOf(dir string) string {
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return dir
}

// Pid is the number by which the kernel of its node knows a process, or knew it.
func (f *Fleet) Pid(proc int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.processes[job.SeatOf(proc)]; p != nil && p.number == proc {
		return p.pid
	}
	return 0
}

// Ended is closed when all processes have ended and none will be started.
func (f *Fleet) Ended() <-chan struct{} { return f.ended }

// Halted is closed by KillAll.
func (f *Fleet) Halted() <-chan struct{} { return f.halted }

// Over reports whether all processes have ended and none will be started.
func (f *Fleet) Over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isOver
}

// EndLeftovers ends the children that processes have left behind on all nodes.
func (f *Fleet) EndLeftovers() {
	f.late.end()
	f.tellAll(daemonproto.Settle{})
	for _, n := range f.there() {
		n.awaitSettled()
	}
}

// Drain waits until all that processes have printed is passed on, but not for ever after KillAll.
func (f *Fleet) Drain() { daemon.Await(&f.writers, f.halted) }

// Close ends the daemons.
func (f *Fleet) Close() {
	f.late.end()
	for _, n := range f.nodes {
		n.noteOver()
	}
	_ = f.late.m.listener.Close() // daemons with connections that break from here on end
	if f.vigil != nil {
		f.vigil.Close()
	}
	var closing sync.WaitGroup // one that is slow to end does not keep others from it
	for _, n := range f.nodes {
		closing.Go(n.close)
	}
	closing.Wait()
	if f.wires != nil {
		f.wires.close()
	}
}

// seatsOf returns the seats of a node, ascending.
func seatsOf(of []int, i int) (seats []int) {
	for seat, on := range of {
		if on == i {
			seats = append(seats, seat)
		}
	}
	return slices.Clip(seats)
}
