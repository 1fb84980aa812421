package enginejob

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"golang.org/x/sys/unix"
)

// A process that finds this variable is a daemon and ends here: the main function of the program
// never starts, nor does its code before Init, which may truncate a file.
var _ = becomeDaemon()

func becomeDaemon() bool {
	text, ok := os.LookupEnv(daemonVariable)
	if !ok {
		return false
	}
	os.Unsetenv(daemonVariable) // otherwise the daemon's children would be daemons, too
	if err := serve(text); err != nil {
		fmt.Fprintf(os.Stderr, "goulfm: daemon of this node: %v\n", err)
		os.Exit(boot.ExitInit)
	}
	os.Exit(0)
	return true
}

// Bounds of the life of a daemon.
const (
	claimMax  = 10 * time.Second // for a connection that sends nothing
	lingerMax = 2 * time.Second  // after a failed start, for ranks that come late and for the end of the others
	endMax    = time.Second      // after the end of the last process
)

// serve is the life of a daemon.
func serve(text string) error {
	timeout, err := timeoutOf(os.Getenv(timeoutVariable))
	if err != nil {
		timeout = startTimeout // the ranks have reported the error
	}
	fd, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("environment variable %s: %q: it is set by goulfm, do not set it by hand", daemonVariable, text)
	}
	f := os.NewFile(uintptr(fd), "meeting place")
	ln, err := net.FileListener(f)
	f.Close()
	if err != nil {
		return fmt.Errorf("environment variable %s: %d: %w: it is set by goulfm, do not set it by hand", daemonVariable, fd, err)
	}
	settle()
	host, _ := os.Hostname()
	s := &server{events: make(chan event), arrivals: make(chan *guest), cards: make(chan *cards, 1), placings: make(chan placing), crossed: make(chan error, 1),
		guests: map[int]*guest{}, muster: newMuster(host, now(), timeout)}
	go s.listen(ln.(*net.UnixListener))
	s.run()
	return nil
}

func now() mono.Time { return mono.Time(boot.NowNs()) }

// settle separates this process from the ranks: it gets another name than the program, may run on
// all cores, and ignores signals, which are meant for the ranks. An engine that tracks processes
// sends TERM to all processes of a step. A daemon that obeyed would end the ranks before they
// have ended in order.
func settle() {
	_ = os.WriteFile("/proc/self/comm", []byte("goulfm-daemon"), 0)
	var all unix.CPUSet
	all.Fill()
	for _, tid := range threads() {
		_ = unix.SchedSetaffinity(tid, &all) // the kernel limits the mask to the cores of the cgroup
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE, syscall.SIGTSTP)
}

// threads returns the threads of this process. Their children inherit their affinity.
func threads() (tids []int) {
	names, _ := filepath.Glob("/proc/self/task/*")
	for _, name := range names {
		if tid, err := strconv.Atoi(filepath.Base(name)); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// A server is a daemon: it performs the actions of its muster, in one goroutine.
type server struct {
	arrivals chan *guest
	events   chan event // of others, for the muster
	muster   *muster
	guests   map[int]*guest // by number
	host     *host          // nil: no rank has come, or the ranks are on several nodes
	watchdog watchdog

	crossing *crossing    // of several nodes; nil: all ranks are here
	cards    chan *cards  // the first ones that a rank has sent
	placings chan placing // requests that come once the daemons of all nodes are ready
	crossed  chan error   // the crossing is over

	cores  []uint64         // the union of the ranks' masks
	linger <-chan time.Time // not nil: the start has failed
}

// run is the life of a server. It ends when the processes of the server have ended, or when all
// ranks have received the reason of a failed start.
func (s *server) run() {
	for next := 0; ; {
		select {
		case g := <-s.arrivals:
			s.guests[next] = g
			s.do(s.muster.Step(came{next, g.claim}))
			next++
		case ev := <-s.events:
			s.do(s.muster.Step(ev))
		case <-s.due():
			s.do(s.muster.Step(tick{now()}))
		case p := <-s.placings:
			p.done <- s.place(p)
		case err := <-s.crossed:
			if s.muster.state == hasStarted {
				s.part(err)
				return
			}
			s.do(s.muster.Step(unable{textOf(err)}))
		case <-s.over():
			s.end()
			return
		case <-s.linger:
			return
		}
		if s.linger != nil && s.host == nil && (s.crossing == nil || s.muster.allHeard() && !s.crossing.leads()) {
			return // no rank has come, or there is no memory, or all have the reason
		}
	}
}

// due returns the time of the muster's next tick.
func (s *server) due() <-chan time.Time {
	if due, any := s.muster.Deadline(); any {
		return time.After(time.Duration(due.Sub(now())))
	}
	return nil
}

// over returns a channel that is closed when all processes have ended. After a failed start the
// server also waits for the ranks that have not come, to report the reason to them.
func (s *server) over() <-chan struct{} {
	if s.host == nil || s.linger != nil && !s.muster.allHeard() {
		return nil
	}
	return s.host.daemon.Ended()
}

// end waits for the remaining processes of this daemon, for a short time.
func (s *server) end() {
	time.AfterFunc(endMax, func() { os.Exit(0) })
	s.host.daemon.EndLeftovers()
	s.host.daemon.Drain()
}

func (s *server) do(actions []action) {
	var broken string
	for _, a := range actions {
		switch a := a.(type) {
		case prepare:
			if err := s.prepare(a.size); err != nil {
				broken = err.Error()
			}
		case accept:
			if broken == "" {
				s.accept(a)
			}
		case hold:
			s.tell(a.guest, answer{What: started})
		case refuse:
			s.tell(a.guest, answer{What: refused, Why: a.why, Elsewhere: a.elsewhere})
			s.dismiss(a.guest)
		case meetOthers:
			if broken == "" {
				s.cross()
			}
		case start:
			if broken == "" && s.crossing == nil {
				s.start()
			}
		case fail:
			s.fail(a.why)
		}
	}
	if broken != "" {
		s.do(s.muster.Step(unable{broken}))
	}
}

// prepare makes the memory of a world, and expects its processes. With several nodes it makes the
// identity of this daemon for the others instead.
func (s *server) prepare(size int) (err error) {
	if s.muster.first.Several != nil {
		s.crossing, err = newCrossing(&s.muster.first, s.muster.node, s.muster.due)
		return err
	}
	h := &host{ended: func(rank int) { s.later(ended{rank}) }}
	h.Rules = job.New(job.Config{Ranks: size, Procs: size, Survive: job.SurviveKilled})
	d, err := daemon.New(h, size, nil)
	if err != nil {
		return fmt.Errorf("the memory of this node: %w", err)
	}
	h.Daemon, h.daemon = d, d
	d.Expect(size)
	d.Announce(size)
	s.host = h
	return d.Begin(func() error { return nil })
}

// accept starts the watch of a process.
func (s *server) accept(a accept) {
	g := s.guests[a.guest]
	s.tell(a.guest, answer{What: waiting, Card: s.crossing.card()})
	s.cores = addMask(s.cores, g.claim.Cores)
	if s.crossing != nil {
		s.crossing.add(g)
		if err := s.watchEnd(g); err != nil {
			s.later(unable{fmt.Sprintf("rank %d cannot be watched: %v", a.rank, err)})
		}
		return
	}
	s.watchdog.add(g.pidfd)
	s.host.Apply(job.Forked{Proc: a.rank})
	err := s.host.daemon.Adopt(daemon.Adoption{Number: a.rank, Pid: g.pid, Pidfd: g.pidfd, Line: g.conn})
	g.pidfd = -1
	s.host.daemon.Unexpect(1)
	if err != nil {
		s.later(unable{fmt.Sprintf("rank %d cannot be watched: %v", a.rank, err)})
	}
}

// later passes an event to the muster without waiting.
func (s *server) later(ev event) { go func() { s.events <- ev }() }

// start gives each rank its place. All ranks are watched before the first one continues.
func (s *server) start() {
	d := s.host.daemon
	size := d.Procs()
	d.Watch(0, size)
	node, arenas := d.Memory()
	for _, g := range s.guests {
		if g.pidfd >= 0 {
			continue // has no place
		}
		info := boot.Info{Job: d.Job(), Rank: g.claim.Rank, Size: size, Ranks: size, Cores: s.countCores()}
		_ = send(g.conn, answer{Build: buildid.Build, What: placed, Info: &info}, int(node.Fd()), int(arenas.Fd())) // otherwise the rank has died
	}
	daemon.Calm(size)
	go s.watchdog.run()
}

// countCores returns the number of cores that the ranks of this node may use: those of their
// masks, and not more than the quota of the cgroup.
func (s *server) countCores() int {
	n := countCores(s.cores)
	if quota := runtime.GOMAXPROCS(0); quota < runtime.NumCPU() && os.Getenv("GOMAXPROCS") == "" {
		n = min(n, quota)
	}
	return max(n, 1)
}

// fail limits the wait to the ends of the ranks that have come, and to lingerMax.
func (s *server) fail(why string) {
	s.linger = time.After(lingerMax)
	s.crossing.abandon(why)
	if s.host != nil {
		s.host.daemon.Unexpect(s.host.daemon.Procs() - s.muster.come)
	}
}

// tell sends a guest an answer. A guest that has ended does not receive it.
func (s *server) tell(number int, a answer) {
	a.Build = buildid.Build
	_ = send(s.guests[number].conn, a)
}

// dismiss forgets a guest that was not admitted.
func (s *server) dismiss(number int) {
	if g := s.guests[number]; g.pidfd >= 0 {
		unix.Close(g.pidfd)
		g.conn.Close()
		delete(s.guests, number)
	}
}
