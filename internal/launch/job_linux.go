package launch

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
	"golang.org/x/sys/unix"
)

// RanksMax bounds -n on one machine.
const RanksMax = 4096

// A job is a running set of ranks.
type job struct {
	spec  *Spec
	start time.Time
	node  *segment.Node
	id    uint64
	rep   *reporter
	cores int

	memory []*os.File // segment 0, all arenas
	prog   *program

	spawner  spawner
	forked   *sync.Cond          // starting has changed
	starting int                 // processes about to be started
	batches  []*batch            // that are not kept yet
	programs map[string]*program // of spawns: built or found already

	mu     sync.Mutex
	ranks  []*rank
	live   int // not reaped yet
	joined int
	ending bool // the job was told to stop
	why    int  // exit code if it was

	allJoined chan struct{}
	ended     chan struct{}
	carriers  sync.WaitGroup
}

type rank struct {
	number   int
	pid      int
	line     net.Conn      // lifeline
	silent   chan struct{} // closed once all that it said was heard
	joined   bool
	declared bool // in the list of departures, or to be found by the ring
	reaped   bool
	status   syscall.WaitStatus
	left     bool
	silenced bool // shows no life, and was killed or fenced for it
	dropped  bool // started by a Spawn that failed
	dump     *boot.Message
	killedNs int64 // when a planned kill was sent, 0: none
	planned  string
	how      string // what told of its end: its tombstone, or reaping
	foundNs  int64
}

// Run runs a job to its end and returns its exit code.
func Run(ctx context.Context, spec *Spec) (int, error) {
	if err := spec.check(); err != nil {
		return ExitUsage, err
	}
	prog, err := findProgram(ctx, spec)
	if err != nil {
		return codeOf(err), err
	}
	defer prog.close()
	j := &job{spec: spec, start: time.Now(), allJoined: make(chan struct{}), ended: make(chan struct{}), cores: cores()}
	j.rep, j.prog, j.forked = newReporter(spec, j.start), prog, sync.NewCond(&j.mu)
	j.programs = map[string]*program{}
	defer j.closeMemory()
	// Caught before there are ranks: one that runs at once may be seen, and the job
	// interrupted, while others are started. It is passed on when all are.
	signals := catchSignals()
	defer signal.Stop(signals)
	j.spawner.begin()
	if err := j.launch(prog); err != nil {
		j.stop(ExitFailed)
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
	j.carriers.Wait()
	code, text := j.verdict()
	j.rep.end(code, text)
	return code, nil
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
	sinks := j.outlets()
	for r := range j.spec.N {
		out, errs, err := sinks(r)
		if err == nil {
			err = j.spawn(prog, placement{rank: r, size: j.spec.N, args: j.spec.Args}, out, errs)
		}
		if err != nil {
			return fail(ExitFailed, "start rank %d: %w", r, err)
		}
	}
	return nil
}

// outlets returns where ranks' streams go until the job has ended.
func (j *job) outlets() func(number int) (out, errs *outlet, err error) {
	sinks, closeSinks := j.spec.outlets()
	go func() {
		<-j.ended
		j.carriers.Wait()
		closeSinks()
	}()
	return sinks
}

// Descriptors of a rank: 0-2, segment 0, the lifeline, all arenas.
const (
	fdNode     = 3
	fdLifeline = 4
	fdArenas   = 5
)

// A placement says who a process is to be.
type placement struct {
	rank, size, first int
	spawned           bool
	args, env         []string
}

func (j *job) spawn(prog *program, who placement, out, errs *outlet) error {
	number := who.first + who.rank
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	mine, theirs := os.NewFile(uintptr(pair[0]), "lifeline"), os.NewFile(uintptr(pair[1]), "lifeline")
	defer mine.Close()
	defer theirs.Close()
	line, err := net.FileConn(mine)
	if err != nil {
		return err
	}
	stdin, feed, err := j.stdinOf(who)
	if err != nil {
		return err
	}
	defer stdin.Close()
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outW.Close()
	errR, errW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer errW.Close()
	files := []uintptr{stdin.Fd(), outW.Fd(), errW.Fd(), j.memory[0].Fd(), theirs.Fd(), j.memory[1].Fd()}
	j.mu.Lock() // who reaps it must know it: it may end at once
	defer j.mu.Unlock()
	pid, err := syscall.ForkExec(prog.path, append([]string{prog.name}, who.args...), &syscall.ProcAttr{
		Dir: j.spec.Dir, Env: j.envOf(who), Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", prog.name, err)
	}
	r := &rank{number: number, pid: pid, line: line, silent: make(chan struct{})}
	j.ranks = append(j.ranks, r)
	j.live++
	if feed != nil {
		go feed()
	}
	prefix := j.spec.prefixOf(number, j.start)
	j.carriers.Add(3)
	go func() { defer j.carriers.Done(); defer outR.Close(); carry(outR, out, prefix) }()
	go func() { defer j.carriers.Done(); defer errR.Close(); carry(errR, errs, prefix) }()
	go func() { defer j.carriers.Done(); defer close(r.silent); defer line.Close(); j.listen(r) }()
	return nil
}

func (j *job) envOf(who placement) []string {
	s, number := j.spec, who.first+who.rank
	info := boot.Info{Job: j.id, Rank: who.rank, Size: who.size, First: who.first, Spawned: who.spawned, NodeFd: fdNode, LifelineFd: fdLifeline, ArenasFd: fdArenas, Ranks: s.N,
		Cores: j.cores, Ring: s.Ring, Era: s.Era, Fence: s.Fence, Watched: s.SuspectAfter > 0, Period: s.Period, Timeout: s.Period * time.Duration(s.Factor)}
	for _, k := range s.Kills {
		if k.Rank == number && k.Point != "" {
			info.Marks = append(info.Marks, boot.Mark{Name: k.Point, N: k.Value})
		}
	}
	env := append(os.Environ(), s.Env...)
	if os.Getenv("GOMAXPROCS") == "" {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(max(2, (j.cores+s.N-1)/s.N)))
	}
	return append(append(env, who.env...), info.Env())
}

// stdinOf returns what a rank reads, and what feeds it if anything must.
func (j *job) stdinOf(who placement) (*os.File, func(), error) {
	all := j.spec.Stdin == "all"
	if who.spawned || !all && strconv.Itoa(who.rank) != j.spec.Stdin || j.spec.In == nil {
		f, err := os.Open(os.DevNull)
		return f, nil, err
	}
	if st, err := j.spec.In.Stat(); err == nil && !all && st.Mode()&os.ModeCharDevice == 0 {
		// A file or pipe goes straight to the rank: back-pressure and its end stay
		// as they are, and a dead rank blocks nobody.
		fd, err := unix.FcntlInt(j.spec.In.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		return os.NewFile(uintptr(fd), "stdin"), nil, err
	}
	// A terminal gives its input to one process group: the launcher's.
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if !all {
		return r, func() { _, _ = io.Copy(w, j.spec.In); w.Close() }, nil
	}
	return r, j.feedAll(w), nil
}

// feedAll copies stdin to every rank; the first rank's call starts the copy.
func (j *job) feedAll(w *os.File) func() {
	j.rep.mu.Lock()
	defer j.rep.mu.Unlock()
	j.rep.feeds = append(j.rep.feeds, w)
	if len(j.rep.feeds) < j.spec.N {
		return nil
	}
	feeds := j.rep.feeds
	return func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := j.spec.In.Read(buf)
			for i, f := range feeds {
				if f == nil {
					continue
				}
				if _, werr := f.Write(buf[:n]); werr != nil { // this rank is gone: the others read on
					f.Close()
					feeds[i] = nil
				}
			}
			if err != nil {
				break
			}
		}
		for _, f := range feeds {
			if f != nil {
				f.Close()
			}
		}
	}
}

// listen reads what a rank says over its lifeline.
func (j *job) listen(r *rank) {
	in := bufio.NewReader(r.line)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m boot.Message
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		j.mu.Lock()
		switch m.What {
		case boot.SaysJoined:
			r.joined = true
			if r.number < j.spec.N {
				j.joined++
			}
			j.inInit(r.number)
			if r.number < j.spec.N && j.joined == j.spec.N {
				close(j.allJoined)
			}
		case boot.SaysKill:
			r.killedNs, r.planned = m.AtNs, fmt.Sprintf("%s=%d", m.Name, m.N)
		case boot.SaysAborted:
			j.mu.Unlock()
			j.abort(m)
			j.mu.Lock()
		case boot.SaysSilent:
			for _, number := range m.Procs {
				j.endSilent(number, r.number)
			}
		case boot.SaysSpawn:
			go j.spawnMore(r, m)
		case boot.SaysKeep:
			j.keep(m)
		case boot.SaysDrop:
			j.unwanted(m)
		case boot.SaysDump:
			r.dump = &m
		case boot.SaysEvent:
			j.rep.event(r.number, m, j.survivors())
		}
		j.mu.Unlock()
	}
}

// survivors counts the ranks that have not died; those that finished tell what
// they know up to their end. The caller holds mu.
func (j *job) survivors() int {
	n := 0
	for _, r := range j.ranks {
		if !r.declared || r.left {
			n++
		}
	}
	return n
}

// watchTombstones sleeps on the tombstones of up to 128 ranks per thread and
// tells everybody of a death within a fraction of a millisecond: before the
// kernel has taken the dead process's memory apart.
func (j *job) watchTombstones() {
	for lo := 0; lo < j.spec.N; lo += park.AnyMax {
		go j.watchSome(lo, min(lo+park.AnyMax, j.spec.N))
	}
}

func (j *job) watchSome(lo, hi int) {
	runtime.LockOSThread()
	askForShortSlice()
	words, old := make([]*uint32, 0, hi-lo), make([]uint32, 0, hi-lo)
	done := make([]bool, hi-lo)
	var corpses []corpse
	for {
		words, old = words[:0], old[:0]
		for r := lo; r < hi; r++ {
			if done[r-lo] {
				continue
			}
			w := j.node.Tombstone(r)
			v := segment.Load32(w)
			if v&segment.TombstoneDied != 0 {
				done[r-lo] = true
				if dead := j.depart(r, byTombstone); dead != nil && mayComeBack() {
					corpses = append(corpses, corpse{rank: dead})
				}
				continue
			}
			words, old = append(words, w), append(old, v)
		}
		due := nextDue(corpses)
		switch {
		case len(words) > 0:
			if err := park.SleepAny(words, old, due); err != nil {
				return // no futex_waitv: reaping finds the deaths
			}
		case due > 0:
			time.Sleep(time.Duration(due - boot.NowNs()))
		default:
			return
		}
		if due > 0 {
			corpses = j.tend(corpses, boot.NowNs())
		}
	}
}

// byTombstone is how a rank is found that has died and is not reaped.
const byTombstone = "tombstone"

// depart puts a rank that has ended into the list that every rank reads, and
// wakes everybody. By how says what told: a tombstone, or reaping. It returns the rank if
// that has died and what is left of it gives way to the living.
func (j *job) depart(number int, how string) (dead *rank) {
	now := boot.NowNs()
	j.mu.Lock()
	r := j.rankOf(number)
	if r == nil || r.declared {
		j.mu.Unlock()
		return nil
	}
	r.declared = true
	r.left = j.node.StateOf(number) == segment.Left
	if !r.left && how == byTombstone {
		giveWay(r.pid)
		dead = r
	}
	why := segment.Died
	if r.left {
		why = segment.Retired
	}
	if !j.spec.Ring || r.left || r.silenced && !j.spec.Fence {
		j.node.AppendDeath(number, why)
	}
	r.how, r.foundNs = how, now
	j.lost(number)
	j.mu.Unlock()
	j.node.WakeAll(park.Futex{})
	return dead
}

func (j *job) rankOf(number int) *rank {
	for _, r := range j.ranks {
		if r.number == number {
			return r
		}
	}
	return nil
}

// reap waits for all children, on the thread that started them.
func (j *job) reap() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECHILD) && j.awaitStart() {
			continue
		}
		if err != nil {
			break
		}
		j.mu.Lock() // nobody sends a signal to a number that is being given back
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		var r *rank
		for _, x := range j.ranks {
			if err == nil && x.pid == pid && !x.reaped {
				r = x
			}
		}
		if r != nil {
			r.reaped, r.status = true, status
			j.live--
		}
		last := j.live == 0 && j.starting == 0
		j.endFenced()
		j.mu.Unlock()
		if r != nil {
			j.depart(r.number, "reaping")
			j.gone(r)
		}
		if last {
			break
		}
	}
	close(j.ended)
}

// awaitStart waits until a process that is being started is there, and says whether
// one was.
func (j *job) awaitStart() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.starting == 0 && j.live == 0 {
		return false
	}
	for j.starting > 0 {
		j.forked.Wait()
	}
	return true
}

// lastWords is how long a dead rank's lifeline is read.
const lastWords = 500 * time.Millisecond

// gone tells why a rank ended, and ends the job when nothing is left to wait for.
func (j *job) gone(r *rank) {
	// What it said last is still to be read. Its end is there at once, unless it
	// left a child behind that holds the line.
	_ = r.line.SetReadDeadline(time.Now().Add(lastWords))
	j.carriers.Go(func() {
		<-r.silent // it may have said at which point it would end itself
		j.mu.Lock()
		defer j.mu.Unlock()
		stranger := !r.joined && j.joined == 0 && r.status.Exited() && r.status.ExitStatus() == 0 // not a goulfm program
		if !r.left && !stranger && !r.dropped {
			j.rep.died(r)
		}
	})
}

func describe(s syscall.WaitStatus) string {
	switch {
	case s.Signaled() && s.Signal() == syscall.SIGKILL:
		return "killed (SIGKILL)"
	case s.Signaled():
		return "killed by " + s.Signal().String()
	case s.ExitStatus() == ExitFenced:
		return "fenced: it was declared dead and stopped itself"
	case s.ExitStatus() == 0:
		return "exit without Finalize"
	}
	return fmt.Sprintf("exit code %d", s.ExitStatus())
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
	for _, r := range j.ranks {
		if !r.reaped {
			_ = syscall.Kill(r.pid, sig)
		}
	}
}

// stop ends the job at once with an exit code.
func (j *job) stop(code int) {
	j.mu.Lock()
	if !j.ending {
		j.ending, j.why = true, code
	}
	j.mu.Unlock()
	j.signalAll(syscall.SIGKILL)
}

// abort ends the whole job, or the ranks that m names: the members of a
// communicator.
func (j *job) abort(m boot.Message) {
	if len(m.Procs) == 0 {
		j.stop(m.N)
		return
	}
	for _, number := range m.Procs {
		j.mu.Lock()
		r := j.rankOf(number)
		j.mu.Unlock()
		if r != nil {
			j.signalRank(r, syscall.SIGKILL)
		}
	}
}

// schedule starts the planned kills and the timeout.
func (j *job) schedule() {
	if j.spec.Timeout > 0 {
		t := time.AfterFunc(j.spec.Timeout, func() { j.timeUp() })
		go func() { <-j.ended; t.Stop() }()
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
		case <-j.ended:
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
				if asked++; asked > 1 {
					j.stop(ExitSignal + int(sig))
					continue
				}
				j.mu.Lock()
				if !j.ending {
					j.ending, j.why = true, ExitSignal+int(sig)
				}
				j.mu.Unlock()
				j.rep.note("signal", "%s passed on to all ranks; once more ends them at once", sig)
				j.signalAll(sig)
			default:
				j.signalAll(sig)
			}
		}
	}
}

func (j *job) timeUp() {
	j.dump(fmt.Sprintf("after --timeout %s", j.spec.Timeout))
	j.stop(ExitTimeout)
}

// dump asks every rank what it waits for, and prints the answers.
func (j *job) dump(why string) {
	ask, _ := json.Marshal(boot.Message{What: boot.SaysDump})
	j.mu.Lock()
	for _, r := range j.ranks {
		if r.dump = nil; !r.reaped && r.joined {
			_ = r.line.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = r.line.Write(append(ask, '\n'))
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

// verdict is the job's exit code: 0 when the surviving set finished without
// error.
func (j *job) verdict() (int, string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ending {
		return j.why, fmt.Sprintf("the job was stopped (code %d)", j.why)
	}
	var finished, failed, joined int
	code, lone := 0, 0
	for _, r := range j.ranks {
		c := exitCode(r.status)
		switch {
		case r.left:
			finished++
			// Killed after it had left: no failure (C8), and no code of its own.
			if code == 0 && r.status.Exited() {
				code = c
			}
		case r.dropped:
		case c != 0 || r.joined:
			failed++
			if lone == 0 && r.status.Exited() {
				lone = c
			}
			if lone == 0 && !r.joined {
				lone = c
			}
		}
		if r.joined {
			joined++
		}
	}
	text := fmt.Sprintf("%d of %d ranks finished", finished, len(j.ranks))
	switch {
	case finished > 0:
		return code, text
	case joined == 0:
		return lone, fmt.Sprintf("%d of %d processes failed; none was a goulfm program", failed, len(j.ranks))
	case lone != 0:
		return lone, text
	}
	return ExitTooMany, text + ": too many lost"
}

func exitCode(s syscall.WaitStatus) int {
	if s.Signaled() {
		return ExitSignal + int(s.Signal())
	}
	return s.ExitStatus()
}

// plural is for messages.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
