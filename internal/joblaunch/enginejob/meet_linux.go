package enginejob

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/goulfm/goulfm/internal/net/pmi"
	"golang.org/x/sys/unix"
)

// daemonVariable makes a process of the program the daemon. It names the descriptor of the socket
// at which ranks meet.
const daemonVariable = "GOULFM_DAEMON_FD"

const (
	daemonFd = 3
	backlog  = 4096
	retry    = time.Millisecond
)

// quietMax is the time for which a rank waits for the daemon's first message before it reports
// the process that it waits for. graceMax is the time for which it waits for the others beyond
// the daemon's timeout. Neither is longer than the start timeout.
const (
	quietMax = 10 * time.Second
	graceMax = 10 * time.Second
)

// at is called, for tests, at each point at which the death of a rank makes a difference: in a
// starter after bind, listen and fork, then at each answer.
var at = func(point string) {}

// meet connects to the daemon of this node, which this process starts if there is none, and waits
// for its place. s and session are of a world on several nodes, or nil.
func meet(ctx context.Context, c *rm.Claim, s *several, session *pmi.Client, timeout time.Duration) (boot.Info, error) {
	v := &visit{name: placeOf(os.Getuid(), c), rank: c.Rank, begun: time.Now(), quiet: min(quietMax, timeout), until: time.Now().Add(timeout + min(graceMax, timeout)),
		claim: claim{Build: buildid.Build, Key: c.Key, Rank: c.Rank, Size: c.Size, Cores: ownCores(), Several: s}}
	if session != nil {
		v.showing = &showing{session: session, all: c.Local <= 0}
	}
	for {
		if err := ctx.Err(); err != nil {
			return boot.Info{}, err
		}
		err := v.bind()
		if err != nil {
			return boot.Info{}, err
		}
		info, err := v.ask(ctx)
		if v.nodes > 0 {
			c.Nodes = v.nodes
		}
		if failed := v.showing.failure(); failed != nil {
			return info, failed
		}
		if !errors.Is(err, errAgain) {
			return info, err
		}
		if v.showing.hasBegun() {
			return info, &Failure{Why: "the daemon of this node has ended"}
		}
		if time.Now().After(v.until) {
			return boot.Info{}, v.late()
		}
		v.complain()
		time.Sleep(retry)
	}
}

// A visit is one rank's path to its place.
type visit struct {
	name         string
	rank         int
	claim        claim
	begun, until time.Time
	quiet        time.Duration
	daemon       int  // pid of the listener, according to the last connection; 0: unknown
	heard        bool // the daemon has answered
	busy         bool // the daemon serves a world without this process
	complained   bool
	nodes        int      // of the world, if there are several
	showing      *showing // nil: no cards are exchanged
}

// errAgain: no daemon listens, or no longer.
var errAgain = errors.New("again")

// bind starts the daemon of this node if the place is free.
func (v *visit) bind() error {
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(s)
	switch err := unix.Bind(s, &unix.SockaddrUnix{Name: v.name}); {
	case errors.Is(err, unix.EADDRINUSE):
		return nil
	case err != nil:
		return os.NewSyscallError("bind", err)
	}
	at("bind")
	if err := unix.Listen(s, backlog); err != nil {
		return os.NewSyscallError("listen", err)
	}
	at("listen")
	if err := startDaemon(s); err != nil {
		return fmt.Errorf("start the daemon of this node: %w", err)
	}
	at("fork")
	return nil
}

// startDaemon executes this program once more, as the daemon that has the listening socket. The
// daemon gets no other descriptor: descriptors that an engine has left open in this process would
// stay open for as long as the daemon lives, and the engine would wait for their end.
func startDaemon(s int) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	files := []uintptr{null.Fd(), 1, 2, uintptr(s)}
	for range highestFd() - daemonFd {
		files = append(files, ^uintptr(0)) // closed
	}
	_, err = syscall.ForkExec("/proc/self/exe", []string{"goulfm-daemon"}, &syscall.ProcAttr{
		Env: append(os.Environ(), daemonVariable+"="+strconv.Itoa(daemonFd)), Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	return err
}

// highestFd returns the highest descriptor of this process.
func highestFd() int {
	highest := 255 // without /proc
	if names, err := filepath.Glob("/proc/self/fd/*"); err == nil && len(names) > 0 {
		highest = daemonFd
		for _, name := range names {
			if fd, err := strconv.Atoi(filepath.Base(name)); err == nil {
				highest = max(highest, fd)
			}
		}
	}
	return highest
}

// ask connects to the daemon and waits for a place.
func (v *visit) ask(ctx context.Context) (info boot.Info, err error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: v.name, Net: "unix"})
	if err != nil {
		return info, v.again(err)
	}
	defer conn.Close() // a place has a copy
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	cred, err := credOf(conn)
	if err != nil {
		return info, err
	}
	if int(cred.Uid) != os.Getuid() {
		return info, &Failure{Why: fmt.Sprintf("the meeting place of this job is held by uid %d", cred.Uid)}
	}
	v.daemon = int(cred.Pid)
	if err := v.present(conn); err != nil {
		return info, err
	}
	for {
		a, fds, err := v.next(ctx, conn)
		switch {
		case err != nil:
			return info, err
		case a.What == refused:
			return info, &Failure{Why: a.Why, Elsewhere: a.Elsewhere}
		case a.What == placed:
			return v.take(ctx, conn, a, fds)
		}
		v.heard, v.busy = true, a.What == started
		if a.What == waiting && a.Card != "" {
			v.showing.begin(ctx, v, conn, a.Card)
		}
		at(string(a.What))
	}
}

// again returns errAgain if an error means that the daemon is not there, or has ended.
func (v *visit) again(err error) error {
	for _, gone := range []error{unix.ECONNREFUSED, unix.ECONNRESET, unix.EPIPE, unix.EAGAIN, net.ErrClosed} {
		if errors.Is(err, gone) {
			return errAgain
		}
	}
	return err
}

// present sends the claim, with a pidfd of this process.
func (v *visit) present(conn *net.UnixConn) error {
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return fmt.Errorf("a world under a job engine needs Linux 5.3: %w", os.NewSyscallError("pidfd_open", err))
	}
	defer unix.Close(pidfd)
	if err := send(conn, v.claim, pidfd); err != nil {
		return v.again(err)
	}
	return nil
}

// next waits for an answer.
func (v *visit) next(ctx context.Context, conn *net.UnixConn) (a answer, fds []int, err error) {
	for {
		limit := v.until
		if first := v.begun.Add(v.quiet); !v.heard && !v.complained && first.Before(limit) {
			limit = first
		}
		_ = conn.SetReadDeadline(limit)
		if ctx.Err() != nil { // ctx may have ended before the deadline was set
			return a, nil, ctx.Err()
		}
		body, fds, err := receive(conn, placeMost)
		switch {
		case err == nil:
			if a, err = decodeAnswer(body); errors.Is(err, buildid.ErrAnother) {
				closeAll(fds)
				return a, nil, &Failure{Why: buildid.Another(fmt.Sprintf("rank %d", v.rank)).Error()}
			}
			return a, fds, err
		case ctx.Err() != nil:
			return a, nil, ctx.Err()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return a, nil, errAgain
		case !time.Now().Before(v.until):
			return a, nil, v.late()
		}
		v.complain()
	}
}

// complain reports once which process keeps this rank waiting, if no answer has come for long: a
// process that was stopped between two steps of its start, for example.
func (v *visit) complain() {
	if v.heard || v.complained || time.Since(v.begun) < v.quiet {
		return
	}
	v.complained = true
	fmt.Fprintf(os.Stderr, "goulfm: rank %d: still waits for %s\n", v.rank, v.whom())
}

func (v *visit) whom() string {
	if v.daemon > 0 {
		return fmt.Sprintf("process %d, which is or starts the daemon of this node and does not answer: is it stopped?", v.daemon)
	}
	return "a process that holds the meeting place of this node and does not listen: is it stopped?"
}

// late returns the reason why this rank waits no longer.
func (v *visit) late() error {
	after := time.Since(v.begun).Round(time.Second)
	if v.busy {
		return &Failure{Why: fmt.Sprintf("another world of this job step still runs on this node, after %s (its daemon is process %d); a program that is to run for itself: GOULFM_ALONE=1", after, v.daemon)}
	}
	return &Failure{Why: fmt.Sprintf("after %s rank %d waits for %s", after, v.rank, v.whom())}
}

// take takes the place: the connection is the lifeline from now on.
func (v *visit) take(ctx context.Context, conn *net.UnixConn, a answer, fds []int) (boot.Info, error) {
	want := 2
	if a.Info.Mesh != nil {
		want += 2 + len(a.Info.Mesh.Slots)
	}
	if len(fds) != want || a.Info.Rank != v.rank {
		return boot.Info{}, fmt.Errorf("%w: place of rank %d with %d descriptors", errMessage, a.Info.Rank, len(fds))
	}
	if err := v.showing.end(ctx); err != nil {
		return boot.Info{}, err
	}
	_ = conn.SetDeadline(time.Time{})
	line, err := conn.File() // a copy, blocking; Join makes its own of it
	if err != nil {
		return boot.Info{}, err
	}
	defer line.Close()
	fd, err := unix.FcntlInt(line.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return boot.Info{}, err
	}
	info := *a.Info
	v.nodes = a.Nodes
	info.NodeFd, info.ArenasFd, info.LifelineFd = fds[0], fds[1], fd
	if info.Mesh != nil {
		info.Mesh.TableFd, info.Mesh.ListenFd, info.Mesh.BellFds = fds[2], fds[3], fds[4:]
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == 1 { // bound to a core: a rank that computes has to answer, too
		runtime.GOMAXPROCS(2)
	}
	return info, nil
}

// ownCores returns the affinity mask of this process.
func ownCores() []uint64 {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return nil
	}
	mask := make([]uint64, len(set))
	for i, word := range set {
		mask[i] = uint64(word)
	}
	return mask
}
