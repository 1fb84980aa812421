package daemon

import (
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/goulfm/goulfm/internal/base/fifo"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/pidfd"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A Host learns the fate of the processes of a node. Its methods are called from several
// goroutines, none of which holds a lock of the daemon.
type Host interface {
	// All of them name processes by their numbers.
	//
	// Found: a process has ended, and others do not know it yet. Left: it was through Finalize.
	Found(proc int, by job.Evidence, left bool, atNs int64)
	// Reaped: nothing of the process runs any more.
	Reaped(proc int, status job.Status)
	// Heard: the process was Found and Reaped, and all of its messages were passed to Said.
	Heard(proc int)
	// Said: a message of the process. An error closes its lifeline, which ends it.
	Said(proc int, m rankproto.Received) error
	// NoLife: the process has shown no life for the time that WatchLife was given.
	NoLife(proc int, atNs int64)
	// Note is a line of text about an event, for the user.
	Note(event, format string, args ...any)
}

// A Daemon serves the processes of one node of a job. Its single responsibility is their life as
// processes: it starts, watches, signals and reaps them, and carries messages and output between
// them and the launcher.
type Daemon struct {
	host   Host
	job    uint64
	node   *segment.Node
	memory []*os.File        // segment 0, all arenas
	kept   *rankstore.Memory // that outlives processes; nil: there is none
	isLent bool              // it outlives this daemon, too

	neighbours *Neighbours  // of a job on several nodes; else nil
	sleeper    park.Sleeper // with which its processes sleep

	starter starter
	strays  *net.UnixListener // nil: nobody answers them
	forked  *sync.Cond        // there is a child more, or less to wait for

	// forking is held from a fork until its child is in byPid or builds, and by the reaper while
	// it takes a status; before mu. A fork lasts until the child has executed its program, on
	// a loaded machine for long: under mu nobody could signal or end processes meanwhile.
	forking sync.Mutex

	mu      sync.Mutex
	procs   processes
	byPid   map[int]*process                // not reaped yet
	builds  map[int]chan syscall.WaitStatus // commands that are not reaped yet
	outputs map[stream]bool                 // that are not at their end
	// processes with an end that was not reported to the host yet
	live     int
	wards    int   // of these, the adopted ones: see Adopt
	expected int   // about to be started
	over     bool  // all processes have ended, and none will be started
	isHalted bool  // KillAll
	still    Still // why they stand still; 0: they run

	ended     chan struct{} // it is over
	childless chan struct{} // and none of their children are left
	halted    chan struct{} // closed by KillAll: the end of the job must not wait for anybody
	halting   sync.Once
	listeners sync.WaitGroup // those that read lifelines
	carriers  sync.WaitGroup // those that pass output on
}

// A process is one that the daemon has started, or adopted.
type process struct {
	slot    int
	number  int // in the job, which no other process ever has
	pid     int
	handle  *pidfd.Handle // of an adopted one; else nil
	line    *fifo.Box[[]byte]
	words   stream        // its end of the lifeline
	silent  chan struct{} // closed once all its messages have been passed on
	found   bool          // that it has ended; its finder notifies the host
	told    chan struct{} // closed once the finder has
	foundNs int64
	reaped  bool
	spare   bool // it waits for a world, and refers to nobody yet
}

func newProcess(number, pid int, line *net.UnixConn) *process {
	return &process{slot: job.SlotOf(number), number: number, pid: pid, line: newMouth(line), words: stream{line}, silent: make(chan struct{}), told: make(chan struct{})}
}

// processes are those of a node, by slot: the last one that was started there.
type processes map[int]*process

// with returns the process with a number, or nil where another one has its slot by now.
func (ps processes) with(number int) *process {
	if p := ps[job.SlotOf(number)]; p != nil && p.number == number {
		return p
	}
	return nil
}

// New makes a daemon with memory for procs processes. The processes keep data that is to outlive
// them in lent (nil: nowhere). The caller closes the daemon when no process will be started any
// more, and the lent memory at any time.
func New(host Host, procs int, lent *rankstore.Memory) (*Daemon, error) {
	d := newDaemon(host)
	d.job, d.kept, d.isLent = NewIdentity(), lent, true
	return d, d.begin(procs, 0)
}

func (d *Daemon) begin(procs, homes int) error {
	adoptOrphans()
	if err := d.makeMemory(procs, homes); err != nil {
		return err
	}
	d.starter.begin()
	answerStrays(d)
	return nil
}

func newDaemon(host Host) *Daemon {
	d := &Daemon{host: host, sleeper: park.Futex{},
		procs: processes{}, byPid: map[int]*process{}, builds: map[int]chan syscall.WaitStatus{}, outputs: map[stream]bool{},
		ended: make(chan struct{}), childless: make(chan struct{}), halted: make(chan struct{})}
	d.forked = sync.NewCond(&d.mu)
	return d
}

// Ended is closed when all processes have ended and none will be started.
func (d *Daemon) Ended() <-chan struct{} { return d.ended }

// Halted is closed by KillAll.
func (d *Daemon) Halted() <-chan struct{} { return d.halted }

// Over reports whether all processes have ended and none will be started.
func (d *Daemon) Over() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// Pid is the number by which the kernel knows a process, or knew it.
func (d *Daemon) Pid(proc int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.procs.with(proc); p != nil {
		return p.pid
	}
	return 0
}

// Signal sends a signal to a process that is not reaped.
func (d *Daemon) Signal(proc int, sig syscall.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.procs.with(proc); p != nil && !p.reaped {
		p.signal(sig)
	}
}

// SignalAll sends a signal to all processes.
func (d *Daemon) SignalAll(sig syscall.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.procs {
		if !p.reaped {
			p.signal(sig)
		}
	}
}

// KillAll ends all processes and their children, the builds for them, and each process that is only
// being started. A child that has left the group of its process is ended once it has become a child
// of the daemon (see EndLeftovers).
func (d *Daemon) KillAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isHalted = true
	for pid := range d.byPid { // not reaped: the number is its, and so is the group
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, p := range d.procs {
		if p.handle != nil && !p.reaped {
			p.signal(syscall.SIGKILL)
		}
	}
	for pid := range d.builds {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	d.halting.Do(func() { close(d.halted) })
}
