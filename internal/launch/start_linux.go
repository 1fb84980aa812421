package launch

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"golang.org/x/sys/unix"
)

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

func (j *job) spawn(prog *program, who placement) (err error) {
	number := who.first + who.rank
	out, errs, err := j.sink.of(number)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			out.close()
			errs.close()
		}
	}()
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
		outR.Close()
		return err
	}
	defer errW.Close()
	files := []uintptr{stdin.Fd(), outW.Fd(), errW.Fd(), j.memory[0].Fd(), theirs.Fd(), j.memory[1].Fd()}
	j.forking.Lock() // the reaper must know it: it may end at once
	defer j.forking.Unlock()
	pid, err := syscall.ForkExec(prog.path, append([]string{prog.name}, who.args...), &syscall.ProcAttr{
		Dir: j.spec.Dir, Env: j.envOf(who), Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		outR.Close()
		errR.Close()
		line.Close()
		return fmt.Errorf("%s: %w", prog.name, err)
	}
	r := &rank{number: number, pid: pid, line: line, words: stream{line.(*net.UnixConn)}, silent: make(chan struct{})}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(r)
	if feed != nil {
		go feed()
	}
	prefix := j.spec.prefixOf(number, j.start)
	j.carry(outR, out, prefix)
	j.carry(errR, errs, prefix)
	j.carriers.Go(func() { defer close(r.silent); defer line.Close(); j.listen(r) })
	return nil
}

// add makes a rank one of the job. The caller holds mu.
func (j *job) add(r *rank) {
	j.ranks = append(j.ranks, r)
	j.byNumber[r.number], j.byPid[r.pid] = r, r
	j.live++
	if j.halted { // stop has ended all that it knew
		_ = syscall.Kill(r.pid, syscall.SIGKILL)
	}
}

// carry passes on what comes from a rank's pipe. The caller holds mu.
func (j *job) carry(from *os.File, to *outlet, prefix func() string) {
	s := stream{from}
	j.outputs[s] = true
	j.carrying.Go(func() {
		carry(s, to, prefix)
		j.mu.Lock()
		delete(j.outputs, s)
		j.mu.Unlock()
		from.Close()
		to.close()
	})
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
	threads := "GOMAXPROCS=" + strconv.Itoa(max(2, (j.cores+s.N-1)/s.N))
	return mergeEnv([]string{threads}, os.Environ(), s.Env, who.env, []string{info.Env()})
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
	j.feeds = append(j.feeds, w) // ranks are started one after the other
	if len(j.feeds) < j.spec.N {
		return nil
	}
	feeds := j.feeds
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
