package launch

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/segment"
	"golang.org/x/sys/unix"
)

// A job is a running set of ranks.
type job struct {
	spec  *Spec
	start time.Time
	node  *segment.Node
	id    uint64
	rep   *reporter
	sink  sink
	cores int

	memory []*os.File // segment 0, all arenas
	prog   *program

	spawner  spawner
	forked   *sync.Cond          // starting has changed
	starting int                 // processes about to be started
	batches  []*batch            // that are not kept yet
	programs map[string]*program // of spawns: built or found already

	// forking is held from a fork until its child is in byPid or builds, and by the reaper while
	// it takes a status; before mu. A fork lasts until the child has executed its program, on
	// a loaded machine for long: under mu nobody would hear ranks, or end the job, meanwhile.
	forking sync.Mutex

	mu        sync.Mutex
	ranks     []*rank
	byNumber  map[int]*rank
	byPid     map[int]*rank                   // not reaped yet
	builds    map[int]chan syscall.WaitStatus // commands that are not reaped yet
	outputs   map[stream]bool                 // that are not at their end
	feeds     []*os.File                      // stdin for all ranks
	unwritten string                          // what kept output from being written, first
	live      int                             // not reaped yet
	joined    int
	over      bool // all ranks have ended, and none will be started
	ending    bool // the job was told to stop
	halted    bool // its ranks were ended
	code      int  // exit code if it was
	why       string

	allJoined chan struct{}
	ended     chan struct{} // it is over
	childless chan struct{} // nor is anything left of what they have started
	quiet     chan struct{} // all that can still happen is that output is read
	settled   chan struct{} // nothing more can happen
	stopped   sync.Once
	hurry     chan struct{}  // closed when the job is stopped: its end must not wait for anybody
	carriers  sync.WaitGroup // those that read lifelines
	carrying  sync.WaitGroup // those that pass output on
}

type rank struct {
	number   int
	pid      int
	line     net.Conn      // lifeline
	words    stream        // what it says there
	silent   chan struct{} // closed once all that it said was heard
	heard    bool          // and it has ended
	joined   bool
	declared bool // in the list of departures, or to be found by the ring
	reaped   bool
	status   syscall.WaitStatus
	left     bool
	aborted  int  // the code of its Abort of some ranks
	fenced   bool // it has learned that it was declared dead
	silenced bool // shows no life, and was killed or fenced for it
	dropped  bool // started by a Spawn that failed
	dump     *boot.Message
	killedNs int64 // when a planned kill was sent, 0: none
	planned  string
	how      string // what told of its end: its tombstone, or reaping
	foundNs  int64
}

func newJob(spec *Spec) *job {
	j := &job{spec: spec, start: time.Now(), cores: cores(),
		programs: map[string]*program{}, byNumber: map[int]*rank{}, byPid: map[int]*rank{}, builds: map[int]chan syscall.WaitStatus{}, outputs: map[stream]bool{},
		allJoined: make(chan struct{}), ended: make(chan struct{}), childless: make(chan struct{}), quiet: make(chan struct{}), settled: make(chan struct{}), hurry: make(chan struct{})}
	stderr := &outlet{w: spec.Stderr, name: "standard error", failed: j.outputFailed}
	j.rep, j.forked, j.sink = newReporter(spec, stderr, j.start), sync.NewCond(&j.mu), spec.sink(stderr, j.outputFailed)
	go j.rep.tell()
	return j
}

// Run runs a job to its end and returns its exit code.
func Run(ctx context.Context, spec *Spec) (int, error) {
	if err := spec.check(); err != nil {
		return ExitUsage, err
	}
	prog, err := findProgram(spec.Program, func(dir string, args []string) ([]byte, error) { return buildFirst(ctx, dir, args) })
	if err != nil {
		return codeOf(err), err
	}
	defer prog.close()
	j := newJob(spec)
	j.prog = prog
	defer j.closeMemory()
	// Caught before there are ranks: one that runs at once may be seen, and the job
	// interrupted, while others are started. It is passed on when all are.
	signals := catchSignals()
	defer signal.Stop(signals)
	adoptOrphans()
	j.spawner.begin()
	if err := j.launch(prog); err != nil {
		j.stop(ExitFailed, "it could not start")
		return codeOf(err), err
	}
	j.rep.started(spec.N, prog.name)
	calmMonitor(spec.universe())
	go j.handleSignals(signals)
	go j.watchTombstones()
	if spec.SuspectAfter > 0 {
		go j.watchLife()
	}
	j.schedule()
	<-j.ended
	j.settle()
	v := j.verdict()
	j.rep.end(v, j.hurry)
	close(j.settled)
	return v.code, nil
}

func codeOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ExitFailed
}

func (s *Spec) check() error {
	if s.N < 1 || s.N > RanksMax {
		return fmt.Errorf("-n %d: want 1 to %d ranks on one machine", s.N, RanksMax)
	}
	if s.Universe != 0 && (s.Universe < s.N || s.Universe > RanksMax) {
		return fmt.Errorf("--universe %d: want at least the %d ranks of -n, and at most %d processes", s.Universe, s.N, RanksMax)
	}
	if s.Ring && s.Universe > s.N {
		return fmt.Errorf("--universe %d: processes can be started later only with --detector exact", s.Universe)
	}
	if s.Fence && s.SuspectAfter == 0 && !s.Ring {
		return fmt.Errorf("--fence: say with --suspect-after how long a rank may show no life, or with --detector ring")
	}
	for _, k := range s.Kills {
		if k.Rank < 0 || k.Rank >= s.N && (k.Point == "" || k.Rank >= s.universe()) {
			return fmt.Errorf("--kill %d@...: there are ranks 0 to %d", k.Rank, s.N-1)
		}
	}
	if r, err := strconv.Atoi(s.Stdin); s.Stdin != "none" && s.Stdin != "all" && (err != nil || r < 0 || r >= s.N) {
		return fmt.Errorf("--stdin %s: want none, all, or a rank from 0 to %d", s.Stdin, s.N-1)
	}
	return s.checkLimits()
}

// checkLimits says before anything is started what would run out.
func (s *Spec) checkLimits() error {
	return errors.Join(s.checkFiles(), s.checkAddresses())
}

func (s *Spec) checkFiles() error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return nil
	}
	need := uint64(s.N)*5 + 64
	if lim.Max < need {
		return fmt.Errorf("-n %d needs %d open files, the limit is %d: raise it (ulimit -n %d) or start fewer ranks", s.N, need, lim.Max, need)
	}
	if lim.Cur < need {
		lim.Cur = lim.Max
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &lim)
	}
	return nil
}

// ownAddresses is what a rank needs of addresses besides the memory of the job, in bytes.
const ownAddresses = 1 << 30

// checkAddresses looks whether ranks can map the memory of all processes. Where those that
// may be started later do not fit there are none, unless somebody has asked for them.
func (s *Spec) checkAddresses() error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &lim); err != nil || lim.Cur == unix.RLIM_INFINITY {
		return nil
	}
	need := func(procs int) uint64 { return uint64(segment.ArenasBytes(procs)) + ownAddresses }
	if s.Universe == 0 && need(s.universe()) > lim.Cur {
		s.Universe = s.N
	}
	if procs := s.universe(); need(procs) > lim.Cur {
		return fmt.Errorf("%d processes need %d MiB of addresses each, the limit is %d: raise it (ulimit -v unlimited), or start fewer (-n, --universe)", procs, need(procs)>>20, lim.Cur>>20)
	}
	return nil
}

// launch makes the shared memory and starts every rank, all from one thread that
// lives as long as the launcher: a rank's parent-death signal is bound to it.
func (j *job) launch(prog *program) error {
	var b [8]byte
	_, _ = rand.Read(b[:])
	j.id = binary.LittleEndian.Uint64(b[:])
	room := j.spec.universe()
	nodeFile, err := segment.Create("goulfm-node", segment.NodeBytes(room))
	if err != nil {
		return fail(ExitFailed, "%w", err)
	}
	arenas, err := segment.Create("goulfm-arenas", segment.ArenasBytes(room))
	if err != nil {
		nodeFile.Close()
		return fail(ExitFailed, "%w", err)
	}
	j.memory = []*os.File{nodeFile, arenas}
	m, err := segment.Attach(nodeFile.Fd())
	if err != nil {
		return fail(ExitFailed, "%w", err)
	}
	j.node = segment.FormatNode(m, room, j.id)
	j.node.SetStarted(j.spec.N)
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		result <- j.spawnAll(prog)
		j.reap()
	}()
	return <-result
}

func (j *job) spawnAll(prog *program) error {
	for r := range j.spec.N {
		if err := j.spawn(prog, placement{rank: r, size: j.spec.N, args: j.spec.Args}); err != nil {
			return fail(ExitFailed, "start rank %d: %w", r, err)
		}
	}
	return nil
}

// outputFailed notes that output of ranks is lost.
func (j *job) outputFailed(err error) {
	j.mu.Lock()
	if j.unwritten == "" {
		j.unwritten = err.Error()
	}
	j.mu.Unlock()
	j.rep.note("output", "output of ranks is lost: %v", err)
}

// signalRank sends a signal to one rank if it still is that rank.
func (j *job) signalRank(r *rank, sig syscall.Signal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !r.reaped {
		_ = syscall.Kill(r.pid, sig)
	}
}

func (j *job) signalAll(sig syscall.Signal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.byPid {
		_ = syscall.Kill(r.pid, sig)
	}
}

// stop ends the job at once with an exit code, and says why: all ranks and what they have
// started, and what is being built for them. What has left a rank's process group is ended
// when it has become a child of the launcher (see settle).
func (j *job) stop(code int, why string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopLocked(code, why)
}

// ends notes how the job will have ended, if nothing has ended it before. The caller holds mu.
func (j *job) ends(code int, why string) {
	if !j.ending {
		j.ending, j.code, j.why = true, code, why
	}
}

func (j *job) stopLocked(code int, why string) {
	j.ends(code, why)
	j.halted = true
	for pid := range j.byPid { // not reaped: the number is its, and so is the group
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for pid := range j.builds {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	j.stopped.Do(func() { close(j.hurry) })
}

// abort ends the whole job, or the ranks that m names: the members of a communicator of
// which r is one. The caller holds mu.
func (j *job) abort(r *rank, m boot.Message) {
	if len(m.Procs) == 0 {
		j.stopLocked(m.N, fmt.Sprintf("Abort(%d) of rank %d", m.N, r.number))
		return
	}
	r.aborted = m.N
	for _, number := range m.Procs {
		if r := j.rankOf(number); r != nil && !r.reaped {
			_ = syscall.Kill(r.pid, syscall.SIGKILL)
		}
	}
}

// schedule starts the planned kills and the timeout.
func (j *job) schedule() {
	if j.spec.Timeout > 0 {
		t := time.AfterFunc(j.spec.Timeout, func() { j.timeUp() })
		go func() { <-j.quiet; t.Stop() }()
	}
	for _, k := range j.spec.Kills {
		if k.Point != "" {
			continue
		}
		go func() {
			select {
			case <-j.allJoined:
			case <-j.ended:
				return
			}
			select {
			case <-time.After(k.After):
				j.mu.Lock()
				r := j.rankOf(k.Rank)
				if !r.reaped && !r.declared {
					r.killedNs, r.planned = boot.NowNs(), k.After.String()
				}
				j.mu.Unlock()
				j.signalRank(r, syscall.SIGKILL)
			case <-j.ended:
			}
		}()
	}
}

func catchSignals() chan os.Signal {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT)
	return ch
}

// handleSignals passes signals on: the first interrupt lets the ranks end by
// themselves, the second kills them.
func (j *job) handleSignals(ch <-chan os.Signal) {
	asked := 0
	for {
		select {
		case <-j.settled:
			return
		case s := <-ch:
			sig := s.(syscall.Signal)
			switch sig {
			case syscall.SIGQUIT:
				j.dump("on request (SIGQUIT)")
			case syscall.SIGTSTP:
				j.signalAll(syscall.SIGSTOP)
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
				if asked++; asked > 1 || j.isOver() {
					j.stop(ExitSignal+int(sig), sig.String())
					continue
				}
				j.mu.Lock()
				j.ends(ExitSignal+int(sig), sig.String())
				j.mu.Unlock()
				j.rep.note("signal", "%s passed on to all ranks; once more ends them at once", sig)
				j.rep.atOnce()
				j.signalAll(sig)
			default:
				j.signalAll(sig)
			}
		}
	}
}

// isOver says whether all ranks have ended.
func (j *job) isOver() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.over
}

func (j *job) timeUp() {
	j.dump(fmt.Sprintf("after --timeout %s", j.spec.Timeout))
	j.stop(ExitTimeout, fmt.Sprintf("--timeout %s", j.spec.Timeout))
}

// dump asks every rank what it waits for, and prints the answers.
func (j *job) dump(why string) {
	j.mu.Lock()
	for _, r := range j.ranks {
		if r.dump = nil; r.joined {
			r.say(boot.Message{What: boot.SaysDump})
		}
	}
	j.mu.Unlock()
	deadline := time.Now().Add(2 * time.Second)
	for tick := time.NewTicker(5 * time.Millisecond); time.Now().Before(deadline); <-tick.C {
		if j.dumped() {
			break
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rep.dump(why, j.ranks)
}

func (j *job) dumped() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.ranks {
		if r.dump == nil && !r.reaped && r.joined {
			return false
		}
	}
	return true
}

// verdict is how the job ended.
func (j *job) verdict() verdict {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ending {
		return verdict{j.code, fmt.Sprintf("the job was stopped (code %d): %s", j.code, j.why)}
	}
	ends := make([]end, len(j.ranks))
	for i, r := range j.ranks {
		ends[i] = r.end()
	}
	v := judge(ends, j.spec.Survive)
	if v.code == 0 && j.unwritten != "" {
		return verdict{ExitOutput, v.text + ", output was lost: " + j.unwritten}
	}
	return v
}

func (r *rank) end() end {
	return end{number: r.number, status: r.status, joined: r.joined, left: r.left, fenced: r.fenced, dropped: r.dropped, aborted: r.aborted, foundNs: r.foundNs}
}
