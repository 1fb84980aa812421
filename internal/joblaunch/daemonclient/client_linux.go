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

// A Client controls the daemons of all nodes of a job, as if they were one daemon.Daemon. Its
// methods may be called from any goroutine.
type Client struct {
	host   daemon.Host
	job    uint64
	procs  int
	nodes  []*node
	driver *membershiphost.Driver // nil until all are there
	of     []int                  // node of each slot

	wires    *wires // nil: all reach each other directly
	survive  bool   // the job may outlive the launcher
	isLocal  bool   // all nodes are on this machine
	deserted func(why string)

	unwritten func(error) // nil: no node writes output

	late    late
	telling sync.Mutex // orders to all nodes, and the set of these nodes
	history history

	// for starting processes: one after the other, as the holder of a slot is checked first
	starting sync.Mutex

	mu        sync.Mutex
	processes map[int]*process // by slot: the last one that was to be started there
	printing  map[int]*process // by number: those with output that has not ended
	used      []int            // by slot: how many earlier processes the slot had
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
	slot, pid int
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
func (f *Client) nodeOf(proc int) *node { return f.nodes[f.of[job.SlotOf(proc)]] }

// NodeOf returns the number of the node of a slot.
func (f *Client) NodeOf(slot int) int { return f.of[slot] }

// tellAll gives an order to all nodes.
func (f *Client) tellAll(m daemonproto.Message) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.history.note(m)
	for _, n := range f.there() {
		n.mouth.Say(m)
	}
}

// Announce makes known to all processes that the processes of slots below n are there, or will be.
func (f *Client) Announce(n int) { f.tellAll(daemonproto.Announce{N: n}) }

// Declare makes known to all processes that a process has departed, and wakes them.
func (f *Client) Declare(proc int, left bool) {
	f.tellAll(daemonproto.Declare{Proc: proc, Left: left, Lost: f.nodeOf(proc).isLost()})
}

// WakeAll does nothing: Declare has.
func (f *Client) WakeAll() {}

// Signal sends a signal to a process.
func (f *Client) Signal(proc int, sig syscall.Signal) {
	f.nodeOf(proc).mouth.Say(daemonproto.Signal{Proc: proc, Sig: int(sig)})
}

// SignalAll sends a signal to all processes.
func (f *Client) SignalAll(sig syscall.Signal) {
	f.tellAll(daemonproto.Signal{Proc: -1, Sig: int(sig)})
}

// KillAll ends all processes.
func (f *Client) KillAll() {
	f.tellAll(daemonproto.KillAll{})
	f.halting.Do(func() { close(f.halted) })
}

// Say sends a message to a process.
func (f *Client) Say(proc int, m rankproto.Message) {
	if line, err := rankproto.Encode(boot.NowNs(), m); err == nil {
		f.nodeOf(proc).mouth.Say(daemonproto.Say{Proc: proc, Line: line})
	}
}

// EndFenced ends a process that was declared dead and runs on.
func (f *Client) EndFenced(proc int) { f.nodeOf(proc).mouth.Say(daemonproto.EndFenced{Proc: proc}) }

// Watch has the deaths of the processes from first on found.
func (f *Client) Watch(first, count int) {
	for slot := first; slot < first+count; slot++ {
		f.nodeOf(slot).mouth.Say(daemonproto.Watch{Slot: slot})
	}
}

// WatchLife has processes found that show no life for so long.
func (f *Client) WatchLife(after time.Duration) {
	f.tellAll(daemonproto.WatchLife{AfterNs: after.Nanoseconds()})
}

// Serves reports whether a node takes part in the job.
func (f *Client) Serves(i int) bool {
	n := f.nodes[i]
	return n.is(isThere) && !n.isLost() && !n.isClosed()
}

// KillNode kills the daemon of a node, and so all that runs there.
func (f *Client) KillNode(i int) {
	if f.nodes[i].is(isThere) {
		f.nodes[i].mouth.Say(daemonproto.Die{})
	}
}

// StopNode stops all processes of a node of this machine, the daemon first: a process unseen by the
// daemon cannot end under a number that another process may get.
func (f *Client) StopNode(i int) { f.signalNode(i, syscall.SIGSTOP) }

// ContinueNode continues a stopped node, the processes first: they must not depend on their daemon.
func (f *Client) ContinueNode(i int) { f.signalNode(i, syscall.SIGCONT) }

func (f *Client) signalNode(i int, sig syscall.Signal) {
	n := f.nodes[i]
	if n.isClosed() {
		return
	}
	pids := []int{n.pid}
	f.mu.Lock()
	for _, slot := range n.slots {
		if p := f.processes[slot]; p != nil && !p.reaped && p.pid > 0 {
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
func (f *Client) Expect(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isOver {
		return false
	}
	f.expected += n
	return true
}

// Unexpect records that n of them will not be, or are.
func (f *Client) Unexpect(n int) {
	f.mu.Lock()
	f.expected -= n
	f.endIfOver()
	f.mu.Unlock()
}

// endIfOver ends the job when nobody runs and nobody will. The caller holds mu.
func (f *Client) endIfOver() {
	if f.begun && f.live == 0 && f.expected == 0 && !f.isOver {
		f.isOver = true
		close(f.ended)
	}
}

// Barred returns the slots of nodes that are lost, are taken back, or are not there yet.
func (f *Client) Barred() (slots []int) {
	for _, n := range f.nodes {
		if !n.is(isThere) || n.isNew.Load() || n.isLost() || n.isClosed() || n.leaving.Load() {
			slots = append(slots, n.slots...)
		}
	}
	return slots
}

// OnStarter calls fn, which starts processes, when others that were called before have returned.
func (f *Client) OnStarter(fn func()) {
	f.starting.Lock()
	defer f.starting.Unlock()
	fn()
}

// Build runs a command to its end.
func (f *Client) Build(dir string, args []string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
	cmd.Dir = dir
	return cmd.CombinedOutput()
}

// Begin calls start, which starts the first processes, and waits until they run.
func (f *Client) Begin(start func() error) error {
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

// Start starts a process on the node of its slot. Before Begin has returned the start is only
// queued.
func (f *Client) Start(p daemon.Placement) error {
	n := f.nodeOf(p.Number)
	info, err := json.Marshal(p.Info)
	if err != nil {
		return err
	}
	proc := &process{slot: job.SlotOf(p.Number), number: p.Number, started: make(chan daemonproto.Started, 1), taken: make(chan daemonproto.Taken, 1)}
	proc.outs = [2]*outlet{newOutlet(p.Out, &f.writers), newOutlet(p.Errs, &f.writers)}
	f.mu.Lock()
	later := f.begun
	f.processes[proc.slot], f.printing[proc.number] = proc, proc
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

// Adopt takes the processes of all slots for started by others; their daemons adopt them. It comes
// before Begin.
func (f *Client) Adopt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for slot := range f.procs {
		f.processes[slot] = &process{slot: slot, number: slot, started: make(chan daemonproto.Started, 1), taken: make(chan daemonproto.Taken, 1)}
	}
	f.live += f.procs
}

// awaitStarted waits for the answer to a Start. A process that was started on a node that is lost
// now counts as started, and as dead with its node.
func (f *Client) awaitStarted(n *node, proc *process) error {
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

// everywhere returns a path of this process's file path that other processes of this machine can
// open: a program that was built is a file without a name.
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

// Pid is the number of a process in the kernel of its node, also after its end.
func (f *Client) Pid(proc int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.processes[job.SlotOf(proc)]; p != nil && p.number == proc {
		return p.pid
	}
	return 0
}

// Ended is closed when all processes have ended and none will be started.
func (f *Client) Ended() <-chan struct{} { return f.ended }

// Halted is closed by KillAll.
func (f *Client) Halted() <-chan struct{} { return f.halted }

// Over reports whether all processes have ended and none will be started.
func (f *Client) Over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isOver
}

// EndLeftovers ends the children that processes have left behind on all nodes.
func (f *Client) EndLeftovers() {
	f.late.end()
	f.tellAll(daemonproto.Settle{})
	for _, n := range f.there() {
		n.awaitSettled()
	}
}

// Drain waits until all that processes have printed is passed on, but not for ever after KillAll.
func (f *Client) Drain() { daemon.Await(&f.writers, f.halted) }

// Close ends the daemons.
func (f *Client) Close() {
	f.late.end()
	for _, n := range f.nodes {
		n.noteOver()
	}
	_ = f.late.m.listener.Close() // daemons with connections that break from here on end
	if f.driver != nil {
		f.driver.Close()
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

// slotsOf returns the slots of a node, ascending.
func slotsOf(of []int, i int) (slots []int) {
	for slot, on := range of {
		if on == i {
			slots = append(slots, slot)
		}
	}
	return slices.Clip(slots)
}
