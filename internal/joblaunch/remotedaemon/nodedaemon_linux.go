package remotedaemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/membershiphost"
	"github.com/goulfm/goulfm/internal/net/socket"
)

// dialFor is how long a daemon tries to reach the launcher; the machine may have several addresses.
const dialFor = 10 * time.Second

// dialEach is how long it tries each of its addresses.
const dialEach = 3 * time.Second

// A node daemon serves one node.
type nodeDaemon struct {
	boot  daemonproto.Bootstrap
	conn  *socket.Lasting
	mouth *daemonproto.Mouth
	in    *daemonproto.Reader

	trust      *socket.Trust
	place      *membershiphost.Place
	birth      uint64
	driver     *membershiphost.Driver
	frozen     time.Time // when the lease was over; of the Driver
	plan       daemonproto.Plan
	late       bool             // the job has begun without this node
	program    *program         // nil: that of the launcher's path
	listeners  map[int]*os.File // by slot
	d          *daemon.Daemon
	neighbours *daemon.Neighbours
	nodes      int // of the job
	crowd      int // see daemonproto.Table
	credit     credit
	settled    atomic.Bool
	over       atomic.Value // a string: why this node ends
	roll       *roll
	solo       solo

	revocations revocations
	complaints  *complaints
	drain       drain

	guests  Guests     // nil: it starts its processes itself
	opening beginning  // of the first processes
	mu      sync.Mutex // of feeds
	feeds   map[int]chan daemonproto.Input
	joined  map[int]bool // processes that are in Init
}

// A beginning collects the orders that come before Go.
type beginning struct {
	begun bool                // Go has come
	first []daemonproto.Start // processes started then
}

// AsTold stands for the node that the bootstrap names.
const AsTold = -1

// Run serves a node. It reads the bootstrap from in; the bootstrap names the node if node is
// AsTold, and is the same for all daemons under a job engine. Run returns when the job is over, or
// the launcher has ended, with the exit code of the daemon.
//
// With a grace SIGTERM means that an engine takes the node back: see drain.
func Run(ctx context.Context, in io.Reader, node int, grace time.Duration) (int, error) {
	o := newNodeDaemon()
	o.drain.grace = grace
	line, err := bufio.NewReader(io.LimitReader(in, daemonproto.MaxBytes)).ReadBytes('\n')
	stamp := buildid.Stamp{}
	if err == nil {
		stamp, err = buildid.Read(line)
	}
	if err == nil && !stamp.IsOurs() {
		return 3, refuse(stamp.Node, node)
	}
	if err == nil {
		err = json.Unmarshal(line, &o.boot)
	}
	if err != nil {
		return 2, fmt.Errorf("goulfm daemon is started by goulfm run --host, which tells it by standard input what it serves: %w", err)
	}
	if node != AsTold {
		o.boot.Node = node
	}
	return o.run(ctx)
}

// refuse returns the error of a daemon whose launcher has another build. It names the node as the
// launcher does: by the bootstrap, or by the arguments if they name another one.
func refuse(told, node int) error {
	if node == AsTold {
		node = told
	}
	return buildid.Another(fmt.Sprintf("node %d", node))
}

func newNodeDaemon() *nodeDaemon {
	return &nodeDaemon{listeners: map[int]*os.File{}, feeds: map[int]chan daemonproto.Input{}, joined: map[int]bool{}, solo: newSolo(), drain: newDrain()}
}

// run is the main function of a daemon that has its bootstrap.
func (o *nodeDaemon) run(ctx context.Context) (int, error) {
	collectSeldom()
	runtime.GOMAXPROCS(daemon.Cores() + ownLoops)
	if err := o.connect(ctx); err != nil {
		return 3, o.unlessTooLate("node %d does not reach the launcher at %v: %w", o.boot.Node, o.boot.Addrs, err)
	}
	defer o.conn.Close()
	if err := o.openPlace(); err != nil {
		return 3, err
	}
	defer o.leave()
	host, _ := os.Hostname()
	o.mouth.Say(daemonproto.Hello{Member: o.member(), Node: o.boot.Node, Pid: os.Getpid(), Host: host, Arch: runtime.GOOS + "/" + runtime.GOARCH, Build: buildid.Build, Cores: daemon.Cores(), Kernel: kernel(), Rack: rm.Rack(os.Environ())})
	stop := context.AfterFunc(ctx, func() { o.conn.Close() })
	defer stop()
	err := o.serve()
	if !o.settled.Load() && o.opening.begun && o.solo.may && ctx.Err() == nil {
		err = o.goOnAlone(ctx)
	}
	switch {
	case o.settled.Load():
		return o.settledCode()
	case o.drain.done.Load():
		return 128 + int(syscall.SIGTERM), nil
	}
	if o.d != nil {
		o.d.KillAll()
	}
	if why, _ := o.over.Load().(string); why != "" {
		return 5, fmt.Errorf("node %d ends: %s", o.boot.Node, why)
	}
	if !o.opening.begun {
		err = o.unlessTooLate("%w", err)
	}
	return 3, err
}

// unlessTooLate makes an error, which is ErrTooLate, too, if the job runs.
func (o *nodeDaemon) unlessTooLate(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if o.boot.Late {
		return fmt.Errorf("%w: %w", ErrTooLate, err)
	}
	return err
}

// collectSeldom has the garbage collector leave this process alone while it is small. A collection
// stops all goroutines, and waits for one that starts a process, until that has executed its
// program: on a loaded machine for longer than a beat may be late.
func collectSeldom() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapMax)
}

const heapMax = 64 << 20

// ownLoops is the number of processors of the runtime for loops that must continue while a thread
// starts a process, which occupies its processor until the process has executed its program: the
// two loops of the membershiphost.Driver, and the one for messages of package daemonproto.
const ownLoops = 3

// kernel returns an identity of this machine's kernel since its boot.
func kernel() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id))
}

// connect reaches one of the addresses of the launcher.
func (o *nodeDaemon) connect(ctx context.Context) error {
	trust, err := socket.NewTrust(o.boot.Job, o.boot.Secret)
	if err != nil {
		return err
	}
	mode, err := socket.ParseMode(o.boot.Secure)
	if err != nil {
		return fmt.Errorf("how to talk to the launcher: %w", err)
	}
	if trust, err = trust.In(mode); err != nil {
		return err
	}
	o.trust = trust
	ctx, cancel := context.WithTimeout(ctx, dialFor)
	defer cancel()
	for _, addr := range o.boot.Addrs {
		each, cancel := context.WithTimeout(ctx, dialEach)
		conn, dialErr := trust.DialLasting(each, addr, o.boot.Birth)
		cancel()
		if dialErr != nil {
			if err != nil {
				dialErr = fmt.Errorf("%w; %w", err, dialErr) // in one line
			}
			err = dialErr
			continue
		}
		o.conn, o.mouth, o.in = conn, daemonproto.NewMouth(conn), daemonproto.NewReader(conn)
		return nil
	}
	return err
}

// serve carries orders out, until the connection ends.
func (o *nodeDaemon) serve() error {
	for {
		m, err := o.in.Next()
		if err == nil {
			err = o.obey(m)
		}
		if err != nil {
			return err
		}
	}
}

// obey carries one order out. An error ends the daemon.
func (o *nodeDaemon) obey(m daemonproto.Message) error {
	switch m := m.(type) {
	case daemonproto.Plan:
		return o.tell(o.prepare(m))
	case daemonproto.Part:
		return o.tell(o.program.add(m.Data))
	case daemonproto.Table:
		return o.tell(o.begin(m))
	case daemonproto.Die:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if o.d == nil {
		return nil
	}
	switch m := m.(type) {
	case daemonproto.Start:
		o.start(m)
	case daemonproto.Go:
		o.goOn()
	case daemonproto.Welcome:
		o.welcome(m)
	case daemonproto.Settle:
		go o.settle() // the last output waits for credit, which is an order
	default:
		o.command(m)
	}
	return nil
}

// settle ends the children that processes have left behind, and waits until all output is on its
// way.
func (o *nodeDaemon) settle() {
	o.d.Unexpect(1)
	<-o.d.Ended()
	o.d.EndLeftovers()
	o.d.Drain()
	o.settled.Store(true)
	o.mouth.Say(daemonproto.Settled{})
}

// tell reports a failure of the start to the launcher.
func (o *nodeDaemon) tell(err error) error {
	if err != nil {
		o.mouth.Say(daemonproto.Failed{Why: err.Error()})
		o.mouth.Flush()
	}
	return err
}

// prepare makes the resources that the processes of the node need before all addresses are known.
func (o *nodeDaemon) prepare(p daemonproto.Plan) error {
	o.plan = p
	ready := daemonproto.Ready{}
	if p.Program != nil {
		var err error
		if o.program, err = newProgram(*p.Program); err != nil {
			return err
		}
		ready.Lacks = o.program.lacks()
	}
	for _, slot := range p.Slots {
		if slot < 0 || slot >= p.Procs {
			return fmt.Errorf("slot %d of %d", slot, p.Procs)
		}
		// the address at which others reach this node
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: o.conn.LocalAddr().(*net.TCPAddr).IP})
		if err != nil {
			return err
		}
		f, err := l.File() // a copy
		_ = l.Close()
		if err != nil {
			return err
		}
		o.listeners[slot] = f
		ready.Addrs = append(ready.Addrs, l.Addr().String())
		ready.Births = append(ready.Births, daemon.NewIdentity())
	}
	o.mouth.Say(ready)
	return nil
}

// begin makes the memory of the node.
func (o *nodeDaemon) begin(t daemonproto.Table) error {
	if len(t.Used) > o.plan.Procs {
		return fmt.Errorf("%w: %d slots of %d were used", daemonproto.ErrMessage, len(t.Used), o.plan.Procs)
	}
	table, err := boot.NewTableFile(boot.Table{Secret: o.boot.Secret, Secure: o.boot.Secure, Node: o.boot.Node, Addrs: t.Addrs, Births: t.Births, Nodes: t.Nodes})
	if err != nil {
		return err
	}
	o.nodes, o.crowd = len(t.Members)-1, t.Crowd // one member is the launcher
	o.neighbours = &daemon.Neighbours{Job: o.boot.Job, Table: table, Slots: o.plan.Slots, Listeners: o.listeners, Used: t.Used}
	o.d, err = daemon.NewNode(o, o.plan.Procs, o.plan.Homes, o.neighbours)
	if err == nil {
		o.roll = newRoll(o.d, t.Nodes, o.nodes)
		o.complaints = &complaints{own: o.boot.Node, nodes: t.Nodes, lanes: map[lane]bool{}, count: map[int]int{}, unreachable: o.complain}
		o.solo.may, o.solo.dir = t.Beats.Survive, o.plan.OutputDir
		if o.guests == nil { // else the engine sends them their own
			go o.passSignals()
		}
		o.d.Expect(1) // the launcher may have processes started here for as long as the job lasts
		err = o.watch(t)
	}
	return err
}

// goOn starts the first processes.
func (o *nodeDaemon) goOn() {
	begun := daemonproto.Begun{}
	err := o.d.Begin(func() error {
		if o.guests != nil {
			return o.adopt()
		}
		for _, s := range o.opening.first {
			if err := o.startOne(s); err != nil {
				return fmt.Errorf("start rank %d: %w", s.Proc, err)
			}
			o.mouth.Say(daemonproto.Started{Proc: s.Proc, Pid: o.d.Pid(s.Proc)})
		}
		return nil
	})
	if err != nil {
		begun.Why = err.Error()
	}
	daemon.Calm(len(o.plan.Slots))
	o.opening = beginning{begun: true}
	o.mouth.Say(begun)
}

// start starts a process, or notes that it is to be started with the first.
func (o *nodeDaemon) start(s daemonproto.Start) {
	o.expectInput(s)
	if !o.opening.begun {
		o.opening.first = append(o.opening.first, s)
		return
	}
	o.d.OnStarter(func() {
		started := daemonproto.Started{Proc: s.Proc}
		if err := o.startOne(s); err != nil {
			started.Why = err.Error()
		}
		started.Pid = o.d.Pid(s.Proc)
		o.mouth.Say(started)
	})
}

func (o *nodeDaemon) startOne(s daemonproto.Start) error {
	p := daemon.Placement{Number: s.Proc, Path: o.program.path(s.Path), Argv: s.Argv, Dir: s.Dir, Env: s.Env}
	if err := json.Unmarshal(s.Info, &p.Info); err != nil {
		return err
	}
	p.Info.Crowd = o.crowd
	var err error
	if p.Out, p.Errs, err = o.streams(s.Proc); err != nil {
		return err
	}
	if p.Stdin, err = o.stdinOf(s); err != nil {
		return err
	}
	if p.Info.Spawned {
		o.solo.expect(s.Proc)
	}
	return o.d.Start(p)
}

// stdinOf returns the standard input of a process.
func (o *nodeDaemon) stdinOf(s daemonproto.Start) (*os.File, error) {
	if !s.Stdin {
		return daemon.NoInput()
	}
	r, w, err := daemon.OpenInput()
	if err == nil {
		o.mu.Lock()
		ch := o.feeds[s.Proc]
		o.mu.Unlock()
		go o.feed(s.Proc, ch, w)
	}
	return r, err
}

// expectInput makes room for the first input of a process, which may come before it is started:
//
//	launcher           this daemon
//	Start, Input, Go
//	                   notes the Start
//	                   takes the Input: the launcher sends no other before it is acknowledged
//	                   Go: starts the process, which reads it
func (o *nodeDaemon) expectInput(s daemonproto.Start) {
	if s.Stdin {
		o.mu.Lock()
		o.feeds[s.Proc] = make(chan daemonproto.Input, 1)
		o.mu.Unlock()
	}
}

// feed passes input on to a process, piece by piece, as it reads.
func (o *nodeDaemon) feed(proc int, in <-chan daemonproto.Input, w *daemon.Input) {
	defer w.Close()
	for m := range in {
		read, err := w.Write(m.Data)
		if m.End {
			return
		}
		o.mouth.Say(daemonproto.Taken{Proc: proc, Bytes: read, Gone: err != nil})
	}
}

// input gives the next piece to feed. The launcher sends one at a time: further pieces are dropped.
func (o *nodeDaemon) input(m daemonproto.Input) {
	o.mu.Lock()
	ch := o.feeds[m.Proc]
	o.mu.Unlock()
	select {
	case ch <- m:
	default:
	}
}

// command carries out a message that stands for a method of the daemon.
func (o *nodeDaemon) command(m daemonproto.Message) {
	switch m := m.(type) {
	case daemonproto.Input:
		o.input(m)
	case daemonproto.Credit:
		o.credit.give(m.Bytes)
	case daemonproto.Announce:
		o.roll.announce(m.N)
	case daemonproto.Declare:
		if m.Lost {
			o.roll.enterLost(m.Proc)
		} else {
			o.roll.enter(m.Proc, m.Left)
		}
	case daemonproto.Signal:
		if m.Proc < 0 {
			o.drain.hear(syscall.Signal(m.Sig))
			o.d.SignalAll(syscall.Signal(m.Sig))
		} else {
			o.d.Signal(m.Proc, syscall.Signal(m.Sig))
		}
	case daemonproto.Hold:
		o.hold(m.On)
	case daemonproto.KillAll:
		o.d.KillAll()
	case daemonproto.Say:
		o.pass(m)
	case daemonproto.Watch:
		o.d.Watch(m.Slot, 1)
	case daemonproto.WatchLife:
		go o.d.WatchLife(time.Duration(m.AfterNs))
	case daemonproto.EndFenced:
		o.d.EndFenced(m.Proc)
	case daemonproto.Census:
		o.mouth.Say(daemonproto.Holdings{All: o.d.Holdings()})
	case daemonproto.Vacate:
		o.vacate(m.Proc)
	}
}

// vacate forgets a process.
func (o *nodeDaemon) vacate(proc int) {
	vacated := daemonproto.Vacated{Proc: proc}
	if err := o.roll.vacate(proc); err != nil {
		vacated.Why = err.Error()
	}
	o.mu.Lock()
	delete(o.joined, proc)
	o.mu.Unlock()
	o.mouth.Say(vacated)
}

// pass sends a line of the launcher's to a process.
func (o *nodeDaemon) pass(m daemonproto.Say) {
	if said, err := rankproto.FromDaemon(bytes.NewReader(m.Line), o.plan.Procs).Next(); err == nil {
		switch said := said.Message.(type) {
		case rankproto.Spawned:
			o.solo.answered(request{m.Proc, said.Token})
		case rankproto.Keep:
			o.solo.meet(m.Proc)
		}
		o.d.Say(m.Proc, said.Message)
	}
}
