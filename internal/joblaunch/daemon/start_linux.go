package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"golang.org/x/sys/unix"
)

// Descriptors of a process: 0-2, segment 0, the lifeline, all arenas; in a job of several nodes
// also the table, where it listens, and the doorbells.
const (
	fdNode     = 3
	fdLifeline = 4
	fdArenas   = 5
	fdTable    = 6
	fdListen   = 7
	fdBells    = 8
)

// ClearOfProcesses is above all descriptors that a process is given: one that is started has
// the daemon's others, too, until it is its program.
const ClearOfProcesses = 64

// A Placement describes a process to start. Start takes over its files and streams, also when it
// fails.
type Placement struct {
	Number    int       // of the process: that of its slot and generation
	Path      string    // to execute
	Argv      []string  // with argument 0
	Dir       string    // working directory; empty: this one
	Env       []string  // NAME=VALUE, added to the environment
	Info      boot.Info // its boot information; the daemon adds job, cores and descriptors
	Stdin     *os.File
	Out, Errs Sink
}

// Begin calls start, which starts the first processes, on the thread that reaps all from then
// on: a process's parent-death signal is bound to the thread that forks it.
func (d *Daemon) Begin(start func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		result <- start()
		d.reap()
	}()
	return <-result
}

// A starter starts processes while others run. Its thread lives as long as the daemon, as the
// parent-death signals of the processes that it starts are bound to it.
type starter struct {
	requests chan func()
}

// begin makes the thread. Call begin before Calm: a thread made by the calm monitor inherits its
// policy, and so would the processes that this thread starts, for as long as they live.
func (s *starter) begin() {
	s.requests = make(chan func())
	go func() {
		runtime.LockOSThread() // never unlocked
		for f := range s.requests {
			f()
		}
	}()
	s.requests <- func() {} // it is there
}

// OnStarter passes f to the thread that starts later processes, after all functions passed before.
func (d *Daemon) OnStarter(f func()) { d.starter.requests <- f }

// Expect announces that n processes will be started. Until each is started or withdrawn by
// Unexpect, the job is not over; false: it is already.
func (d *Daemon) Expect(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return false
	}
	d.expected += n
	return true
}

// Unexpect records that n of the expected processes are started, or will not be. If no other is
// left the job is over. The reaper could not detect that, because orphans of processes may still be
// its children.
func (d *Daemon) Unexpect(n int) {
	d.mu.Lock()
	d.expected -= n
	last := d.endsNow()
	d.mu.Unlock()
	d.forked.Broadcast()
	if last {
		close(d.ended)
	}
}

// Start starts a process, on the thread of Begin or OnStarter.
func (d *Daemon) Start(p Placement) error {
	defer p.Stdin.Close()
	pipes, err := d.openPipes()
	if next := d.Number(job.SlotOf(p.Number)); err == nil && next != p.Number {
		pipes.closeTheirs()
		pipes.closeOurs()
		err = fmt.Errorf("process %d: its slot is that of process %d", p.Number, next)
	}
	if err != nil {
		p.Out.Close()
		p.Errs.Close()
		return err
	}
	defer pipes.closeTheirs()
	d.forking.Lock()
	defer d.forking.Unlock()
	files := []uintptr{p.Stdin.Fd(), pipes.outW.Fd(), pipes.errsW.Fd(), d.memory[0].Fd(), pipes.theirs.Fd(), d.memory[1].Fd()}
	if d.neighbours != nil {
		files, p.Info.Mesh = d.neighbours.give(files, p.Number)
	}
	if p.Info.Keeps && d.kept != nil {
		p.Info.KeepFd = len(files)
		files = append(files, d.kept.File().Fd())
	}
	pid, err := syscall.ForkExec(p.Path, p.Argv, &syscall.ProcAttr{
		Dir: p.Dir, Env: d.envOf(p), Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		pipes.closeOurs()
		p.Out.Close()
		p.Errs.Close()
		if bad := CheckDir(p.Dir); bad != nil {
			return bad
		}
		return fmt.Errorf("%s: %w", p.Argv[0], err)
	}
	d.add(newProcess(p.Number, pid, pipes.line), pipes, p)
	return nil
}

// CheckDir returns why no process can have a folder as its working directory. The kernel reports
// such a folder as it reports a program that is missing.
func CheckDir(dir string) error {
	if dir == "" {
		return nil
	}
	st, err := os.Stat(dir)
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case err == nil && !st.IsDir():
		err = syscall.ENOTDIR
	case err == nil:
		err = unix.Access(dir, unix.X_OK)
	}
	if err != nil {
		return fmt.Errorf("working directory %s: %w", dir, err)
	}
	return nil
}

// add takes a process into the tables, and begins to read its lifeline and output.
func (d *Daemon) add(proc *process, pipes *pipes, p Placement) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.procs[proc.slot], d.byPid[proc.pid] = proc, proc
	proc.spare = p.Info.Spare
	if d.still != 0 {
		proc.signalGroup(syscall.SIGSTOP)
	}
	d.live++
	d.forked.Broadcast()
	if d.isHalted { // KillAll has ended all that it knew
		_ = syscall.Kill(proc.pid, syscall.SIGKILL)
	}
	d.carry(pipes.outR, p.Out)
	d.carry(pipes.errsR, p.Errs)
	d.listeners.Go(func() { defer close(proc.silent); defer pipes.line.Close(); d.listen(proc) })
}

// pipes are the connections of a process with the daemon: its output, and its lifeline.
type pipes struct {
	outR, outW, errsR, errsW *os.File
	line                     *net.UnixConn
	theirs                   *os.File // the other end of line
}

func (d *Daemon) openPipes() (p *pipes, err error) {
	p = &pipes{}
	defer func() {
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
		}
	}()
	if p.line, p.theirs, err = openLifeline(); err != nil {
		return p, err
	}
	if p.outR, p.outW, err = os.Pipe(); err != nil {
		return p, err
	}
	p.errsR, p.errsW, err = os.Pipe()
	return p, err
}

func openLifeline() (*net.UnixConn, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	mine, theirs := os.NewFile(uintptr(pair[0]), "lifeline"), os.NewFile(uintptr(pair[1]), "lifeline")
	defer mine.Close()
	line, err := net.FileConn(mine) // a copy
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return line.(*net.UnixConn), theirs, nil
}

func (p *pipes) closeTheirs() {
	for _, f := range []*os.File{p.theirs, p.outW, p.errsW} {
		f.Close() // of nil: nothing
	}
}

func (p *pipes) closeOurs() {
	if p.line != nil {
		p.line.Close()
	}
	p.outR.Close()
	p.errsR.Close()
}

func (d *Daemon) envOf(p Placement) []string {
	info := p.Info
	info.Job, info.Cores, info.NodeFd, info.LifelineFd, info.ArenasFd = d.job, Cores(), fdNode, fdLifeline, fdArenas
	threads := "GOMAXPROCS=" + strconv.Itoa(max(2, (Cores()+info.Ranks-1)/info.Ranks))
	return mergeEnv([]string{threads}, os.Environ(), p.Env, []string{info.Env()})
}

// mergeEnv returns an environment with one entry for each name, the last one given. Of two a
// Go program takes the first, and a shell perhaps the other.
func mergeEnv(lists ...[]string) []string {
	var out []string
	at := map[string]int{}
	for _, list := range lists {
		for _, entry := range list {
			name, _, _ := strings.Cut(entry, "=")
			if i, given := at[name]; given {
				out[i] = entry
				continue
			}
			at[name] = len(out)
			out = append(out, entry)
		}
	}
	return out
}
