package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/logline"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/enginejob"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// Config sets how a process takes part. The zero value is the default for each field; some fields
// can also be set by environment variables (goulfm run -x).
type Config struct {
	// UnexpectedBytesMax bounds the memory for messages that arrived before they were received, in
	// bytes over all senders. Default 64 MiB. A sender that has used its share waits for the
	// receive; a lower bound saves memory, a higher one lets senders continue for longer.
	UnexpectedBytesMax uint64
	// SpinPolls is the number of polls of a waiting call before it blocks. With 0, the default, the
	// value of GOULFM_SPIN counts (goulfm run -x GOULFM_SPIN=20). Without that variable it is up to
	// 30,000 if the machine has a core for each rank, and 20 otherwise. The upper number falls
	// after a wait that polled in vain, because other work may need the cores. A higher value makes
	// wake-ups faster, and keeps the core from other work.
	SpinPolls int
	// Tick is how long a process must make no call before its background loop serves its peers.
	// Default 10 ms. A shorter Tick answers peers sooner while the program computes. The time is
	// longer where the loop would only take the core from other work. After calls with nothing
	// else under way it is k Ticks, where k ranks share a core. During a call with a long wait it
	// grows to 8 Ticks, or to k Ticks if k is above 8. While other processes send frames to windows of
	// this one (package rma), k is 1 and a Tick at most 1 ms.
	Tick time.Duration
	// Uniform makes each process that learns of the first failure of a member revoke the
	// communicator: no rank continues as if nothing had happened, and each gets an error
	// (SetUniform). Default false, or the value of GOULFM_UNIFORM (goulfm run -x GOULFM_UNIFORM=1).
	// The same at all ranks. Uniform saves the program its own calls of Revoke; as a cost, ranks
	// that did not need the dead process stop, too.
	Uniform bool
	// Warm, if not nil, is called in a process that will wait as a spare (goulfm run --spares),
	// before the wait. Warm reads input and builds tables, so that the replacement of a rank is
	// ready sooner. There is no communicator yet. InitWith returns an error of Warm, and MainWith
	// ends the process with it.
	Warm func(context.Context) error
	// Log receives a record for each event of this process that a person should know of, such as an
	// error that ends the process, or messages that were never received. The message is the name of
	// the event, and the attributes are its values. nil: lines on stderr. A panic, and the progress
	// of a start under a job engine, are printed on stderr in any case.
	Log *slog.Logger
}

// Environment variables that set fields of a Config.
const (
	uniformVariable = "GOULFM_UNIFORM" // Uniform: 1 or 0
	spinVariable    = "GOULFM_SPIN"    // SpinPolls, if the program does not set the field: 1 or more
)

// fromEnv sets the fields that environment variables define.
func (cfg *Config) fromEnv() error {
	if text, given := os.LookupEnv(uniformVariable); given {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("environment variable %s: %q: want 1 or 0", uniformVariable, text)
		}
		cfg.Uniform = cfg.Uniform || on
	}
	if text, given := os.LookupEnv(spinVariable); given && cfg.SpinPolls == 0 {
		polls, err := strconv.ParseUint(text, 10, 31)
		if err != nil || polls == 0 {
			return fmt.Errorf("environment variable %s: %q: want how often a wait looks before it sleeps, 1 or more", spinVariable, text)
		}
		cfg.SpinPolls = int(polls)
	}
	return nil
}

const (
	spinWithCores    = 30_000 // one to two milliseconds
	spinWithoutCores = 20
	yieldPolls       = 50 // more than any rank needs if all come; after that one is late, and others have work
)

// inits is the world that Init has returned: a process has one world.
var inits struct {
	mu    sync.Mutex
	world *Comm // not finalized; else nil
	count int   // calls of Init that await their Finalize
	calls int   // of Init since the world began
	ended bool  // the world of a job was finalized: this process has left the job
}

// Init returns the world of this process: all processes that goulfm run, or a job engine (Slurm's
// srun, Open MPI's mpirun), started with it, or a world of one rank without a launcher. Under a job
// engine Init waits until all processes have come, GOULFM_START_TIMEOUT at most (60s). A process
// that is one of several and cannot find out its rank gets an error instead of a world of one rank,
// unless GOULFM_ALONE=1 makes the process run alone. A process that Spawn or Replace started gets a
// world without the processes that made that call: see Parent and Joined.
//
// A further call, of a library for example, returns the same world and increments a count: each
// Init needs its Finalize, and the last Finalize ends the world. After that Init returns
// ErrFinalized in a process of a job; a process without a launcher gets a new world.
func Init(ctx context.Context) (*Comm, error) { return InitWith(ctx, Config{}) }

// InitWith is Init with a Config. The Config of the call that makes the world counts.
func InitWith(ctx context.Context, cfg Config) (*Comm, error) {
	if ctx == nil {
		return nil, fail("init", nil, nil, errNoContext)
	}
	if err := ctx.Err(); err != nil {
		return nil, fail("init", nil, nil, err)
	}
	inits.mu.Lock()
	defer inits.mu.Unlock()
	switch {
	case inits.ended:
		return nil, fail("init", nil, nil, fmt.Errorf("%w: this process has left its job", ErrFinalized))
	case inits.world == nil:
		w, err := begin(ctx, cfg)
		if err != nil {
			return nil, fail("init", nil, nil, err)
		}
		inits.world = w
	}
	inits.count++
	inits.calls++
	return inits.world, nil
}

// begin joins the job of this process, or makes a world of one.
func begin(ctx context.Context, cfg Config) (*Comm, error) {
	if err := cfg.fromEnv(); err != nil {
		return nil, err
	}
	info, launched, err := enginejob.Find(ctx)
	if err != nil {
		return nil, err
	}
	if !launched {
		alone := cfg.engine()
		w := &world{log: cfg.Log}
		alone.OnUnreceived = w.unreceived(0)
		w.proc = engine.New(boot.Alone(), alone)
		return &Comm{e: w.proc.World(), w: w}, nil
	}
	if info.Spare && cfg.Warm != nil {
		if err := cfg.Warm(ctx); err != nil {
			return nil, fmt.Errorf("a spare makes itself ready: %w", err)
		}
	}
	p, err := info.Join()
	if err != nil {
		return nil, err
	}
	w := &world{process: p, marks: info.Marks, log: cfg.Log}
	if !info.Ring {
		w.starter = p
	}
	engineCfg := w.engineConfig(cfg)
	var place *rankproto.Place
	if info.Spawned {
		if engineCfg.Union, place, err = meetParent(p); err != nil {
			return nil, err
		}
	}
	if place != nil {
		engineCfg.UnionUniform, engineCfg.UnionName, engineCfg.UnionRepairs = place.Uniform, place.Name, place.Repairs
	}
	if w.memory, err = memoryOf(info, place); err != nil {
		return nil, err
	}
	w.proc = engine.New(p.End, engineCfg)
	rehearseErrors()
	if info.Spawned {
		w.takeParent(place)
	}
	go p.Listen(w.dump, w.outlived)
	c := &Comm{e: w.proc.World(), w: w}
	c.uniform.Store(cfg.Uniform)
	return c, nil
}

// memoryOf opens the memory of the node that outlives processes. The ranks with which the job began
// have this memory, and so have the processes that replace one of them. Another world would use the
// same homes.
func memoryOf(info boot.Info, place *rankproto.Place) (*rankstore.Memory, error) {
	if info.KeepFd == 0 || info.Spawned && (place == nil || !place.Memory) {
		return nil, nil
	}
	m, err := rankstore.Open(os.NewFile(uintptr(info.KeepFd), "keep"))
	if err != nil {
		return nil, fmt.Errorf("the memory of the node that outlives processes: %w", err)
	}
	return m, nil
}

// release returns one Init of a world, and reports whether others remain.
func release(c *Comm) (others bool) {
	inits.mu.Lock()
	defer inits.mu.Unlock()
	if inits.world == nil || inits.world.w != c.w || inits.count == 1 {
		return false
	}
	inits.count--
	if p := c.w.process; p != nil { // for the message, if this process ends now
		p.Say(rankproto.Finalizes{Inits: inits.calls, Finalizes: inits.calls - inits.count})
	}
	return true
}

// releaseOthers returns all calls of Init but one.
func releaseOthers(c *Comm) {
	inits.mu.Lock()
	defer inits.mu.Unlock()
	if inits.world != nil && inits.world.w == c.w {
		inits.count = 1
	}
}

// forget notes that a world is finalized.
func forget(c *Comm) {
	inits.mu.Lock()
	defer inits.mu.Unlock()
	if inits.world != nil && inits.world.w == c.w {
		inits.world, inits.count, inits.calls, inits.ended = nil, 0, 0, c.w.process != nil
	}
}

func (cfg Config) engine() engine.Config {
	return engine.Config{UnexpectedBytesMax: cfg.UnexpectedBytesMax, SpinPolls: cfg.SpinPolls, Tick: cfg.Tick, Uniform: cfg.Uniform}
}

func (w *world) engineConfig(cfg Config) engine.Config {
	info := w.process.Info
	out := cfg.engine()
	out.OnFenced, out.OnTick, out.Observe = w.fenced, w.tick, w.report
	out.OnUnreceived = w.unreceived(info.Rank)
	if info.Watched {
		out.Alive = w.process.Beat
	}
	w.process.OnFenced = w.fenced
	out.Nodes = w.process.Nodes
	if out.Nodes != nil {
		out.Heed = w.process.HeedLease
		out.OnRevoke = func(name [16]byte) { w.process.Say(rankproto.Revoked{Name: name[:]}) }
	}
	out.Era, out.Fence, out.Share = info.Era, info.Fence, info.Ranks
	for rank := range info.Size {
		out.World = append(out.World, info.First+rank)
	}
	out.Crowd = info.Sharing()
	out.Mutual = out.Crowd <= 1
	if out.SpinPolls == 0 {
		out.SpinPolls, out.YieldPolls = spinWithoutCores, yieldPolls
		if out.Mutual {
			out.SpinPolls, out.YieldPolls, out.LearnSpin = spinWithCores, 0, true
			out.SharesCore = w.sharesCore
		}
	}
	if info.Ring {
		// The launcher kills a process that the ring finds silent, and announces the death once the
		// process has ended. With --fence the process is declared dead at once, and stops itself if
		// alive.
		out.OnSilent = func(proc int) { w.process.Say(rankproto.Silent{Procs: []int{w.process.End.Node.Number(proc)}}) }
		out.Detector = fd.Config{Mode: fd.Ring, Fence: info.Fence,
			Period: mono.Duration(info.Period), Timeout: mono.Duration(info.Timeout), Start: mono.Time(mono.Second)}
	}
	return out
}

// outlived revokes a communicator that a process of this or another node had revoked before the
// process died.
func (w *world) outlived(name [16]byte) { engine.Outlived(w.proc, name) }

// tick does the periodic checks.
func (w *world) tick() {
	w.process.FlushOld()
	w.process.HeedLease()
}

// sharesCore reports whether the cores on which this process may run are too few for the ranks of
// the node. The launcher counts the cores of the node; a wrapper such as taskset may bind several
// ranks to one of them.
func (w *world) sharesCore() bool {
	node := w.process.End.Node
	var pids []int
	for slot := range node.Procs() {
		if pid := node.Pid(slot); pid > 0 {
			pids = append(pids, pid)
		}
	}
	return park.SharesCore(pids)
}

// fenced ends this process: the others have declared this process dead and continue without it. A
// fenced process never rejoins (F7).
func (w *world) fenced(why string) {
	logline.Write(w.log, logline.Event{Level: slog.LevelError, Name: "fenced", Values: []slog.Attr{slog.Int("rank", w.process.Info.Rank), slog.String("reason", why)}},
		"rank %d: stops itself: %s", w.process.Info.Rank, why)
	w.process.Say(rankproto.Fenced{})
	os.Exit(boot.ExitFenced)
}

// unreceived returns the function that reports messages which the program of a rank has never
// received.
func (w *world) unreceived(rank int) func(text string) {
	return func(text string) { w.warn("messages not received", rank, slog.String("text", text), "%s", text) }
}

// warn reports an omission of the program of a rank, with one value. The line is made of format.
func (w *world) warn(event string, rank int, value slog.Attr, format string, args ...any) {
	logline.Write(w.log, logline.Event{Level: slog.LevelWarn, Name: event, Values: []slog.Attr{slog.Int("rank", rank), value}},
		"rank %d: %s", rank, fmt.Sprintf(format, args...))
}

// reportFailure reports an error that ends the process of a rank.
func reportFailure(log *slog.Logger, rank int, err error) {
	logline.Write(log, logline.Event{Level: slog.LevelError, Name: "failed", Values: []slog.Attr{slog.Int("rank", rank), logline.Error(err)}}, "rank %d: %v", rank, err)
}

func (w *world) report(ev engine.Event) {
	numbers := make([]int, len(ev.Procs)) // numbers, because slots may have other processes by the time a person reads the event
	for i, slot := range ev.Procs {
		numbers[i] = w.process.End.Node.Number(slot)
	}
	w.process.Note(rankproto.Event{Name: ev.What, Comm: ev.Comm, Procs: numbers, Text: ev.Text})
}

// dump reports to the launcher the operations that this process waits for.
func (w *world) dump() {
	var waits []rankproto.Wait
	for _, wait := range w.proc.Waits() {
		waits = append(waits, rankproto.Wait(wait))
	}
	var stacks bytes.Buffer
	stacks.WriteString(w.proc.Describe())
	_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
	text := stacks.String()
	w.process.Say(rankproto.Dump{Waits: waits, Lines: waitingLines(text), Text: text})
}

// Finalize ends with an agreement of all live members, whatever fails during the call; afterwards
// no call is possible. A process that ends without Finalize has failed. The only deadline is that
// of ctx (R62). When ctx ends, Finalize abandons only the wait: the part of this process stands,
// and Finalize may be called again to wait for the end. If Init was called several times, the last
// Finalize does this; earlier ones return at once. ErrUnsupported is the error of a communicator
// other than the world, and of a call while another goroutine is in Finalize. A Finalize after the
// end is ErrFinalized.
//
// Finalize follows the rules of other agreements (C10): if other members are in Agree, AgreeFailed,
// Shrink, Disconnect or a call that creates a communicator, of the world or of one made from the
// world, all of them get ErrMismatch, which names both calls. A communicator with processes of
// another world is not concerned. The job then continues, and Finalize may be called again. A send
// that waits for a receive of a member in Finalize is ErrFinalized. So is, after a quarter of a
// second, a receive, a probe or a collective that waits for a member in Finalize; all messages that
// the member has sent come first. All operations that a program has left under way end with
// ErrFinalized, too. CreateGroup waits for its members as always.
func (c *Comm) Finalize(ctx context.Context) error {
	if err := given(ctx, "finalize", c); err != nil {
		return err
	}
	if c.e != c.w.proc.World() {
		return fail("finalize", c, nil, fmt.Errorf("%w: only the world is finalized; Free other communicators", ErrUnsupported))
	}
	if release(c) {
		return nil
	}
	if err := c.w.proc.Finalize(ctx); err != nil {
		return fail("finalize", c, nil, err)
	}
	forget(c)
	c.w.proc.Close()
	if c.w.process != nil {
		c.w.process.Flush()
	}
	return nil
}

// Main is the main function of a program: Init, body, Finalize. This Finalize ends the world, also
// if body has called Init more often than Finalize. An error is reported and ends the process,
// which the job sees as its failure: with code 1 after an error of body or Finalize, 2 after a
// panic of body, 3 after an error of Init. ctx ends with the first SIGINT or SIGTERM; a signal that
// comes more than a second later ends the process. Job engines send one request to end as several
// signals.
func Main(body func(ctx context.Context, w *Comm) error) { MainWith(Config{}, body) }

// oneRequest is how long further signals belong to the first one's request to end the job. At its
// time limit Slurm sends SIGTERM twice, and a daemon may pass on a signal that the engine has sent
// to all.
const oneRequest = time.Second

// MainWith is Main with a Config.
func MainWith(cfg Config, body func(ctx context.Context, w *Comm) error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(oneRequest, stop) })
	w, err := InitWith(ctx, cfg)
	if err != nil {
		if f, ok := errors.AsType[*enginejob.Failure](err); !ok || !f.Elsewhere && !f.IsTold {
			logline.Write(cfg.Log, logline.Event{Level: slog.LevelError, Name: "not started", Values: []slog.Attr{logline.Error(err)}}, "%v", err)
		}
		os.Exit(boot.ExitInit)
	}
	rank := w.Rank()
	if err := guard(ctx, rank, w, body); err != nil {
		reportFailure(cfg.Log, rank, err)
		os.Exit(boot.ExitError)
	}
	releaseOthers(w) // no library calls Finalize after body
	// Not ctx: a job that ends in order after a request to end has not failed.
	if err := w.Finalize(context.WithoutCancel(ctx)); err != nil {
		reportFailure(cfg.Log, rank, err)
		os.Exit(boot.ExitError)
	}
}

// guard calls body. A panic of body is printed with the rank and ends the process.
func guard(ctx context.Context, rank int, w *Comm, body func(ctx context.Context, w *Comm) error) error {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "goulfm: rank %d: panic: %v\n%s", rank, v, debug.Stack())
			os.Exit(boot.ExitPanic)
		}
	}()
	return body(ctx, w)
}
