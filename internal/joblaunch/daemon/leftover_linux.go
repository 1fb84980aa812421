package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How long the end of a job takes at most, once its ranks have ended.
const (
	leftoverGrace = 2 * time.Second // children of ranks may continue, in a job that was not stopped
	leftoverMax   = 2 * time.Second // until they have ended, once they are killed
	OutputMax     = time.Second     // wait for output that nobody reads, in a job that was stopped
)

// adoptOrphans makes the daemon the parent of the children that its processes leave behind when
// they end. The daemon can then find and end them, however they were started.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// EndLeftovers ends the children that processes have left behind, once the processes have ended and
// their messages were passed on. The children may run on for a moment, if nobody has called
// KillAll.
func (d *Daemon) EndLeftovers() {
	d.listeners.Wait()
	select {
	case <-d.childless:
	case <-d.halted:
		d.killLeftovers()
	case <-time.After(leftoverGrace):
		d.killLeftovers()
	}
}

// Drain waits until the last of the output is written: for as long as somebody reads it, but
// not for ever after KillAll.
func (d *Daemon) Drain() {
	d.mu.Lock()
	for s := range d.outputs {
		s.end() // a process that is no child of the daemon may hold the pipe
	}
	d.mu.Unlock()
	Await(&d.carriers, d.halted)
}

// Await waits for those that write. Once hurry is closed it waits no longer than OutputMax.
func Await(writers *sync.WaitGroup, hurry <-chan struct{}) {
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	select {
	case <-done:
		return
	case <-hurry:
	}
	select {
	case <-done:
	case <-time.After(OutputMax):
	}
}

// killLeftovers kills all children of the daemon, and the orphans that thereby become its children,
// until there is none.
func (d *Daemon) killLeftovers() {
	killed := map[int]bool{}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(leftoverMax)
	for over := false; !over; {
		d.mu.Lock() // nothing is reaped meanwhile: each number is still that of a child
		for _, pid := range children() {
			if !killed[pid] && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed[pid] = true
			}
		}
		d.mu.Unlock()
		select {
		case <-d.childless:
			over = true
		case <-limit:
			over = true
		case <-tick.C:
		}
	}
	if len(killed) > 0 {
		d.host.Note("leftover", "%s that ranks had started still ran: ended", countOf(len(killed)))
	}
}

// children returns the children of this process.
func children() (pids []int) {
	me := os.Getpid()
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(me) {
		return nil // no /proc, or that of other numbers: they would be other processes here
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// "7 (a name) S 3 ...": the state and the parent follow the name, which may contain
		// anything.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && len(fields) > 1 && string(fields[1]) == strconv.Itoa(me) && string(fields[0]) != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

func countOf(processes int) string {
	if processes == 1 {
		return "1 process"
	}
	return strconv.Itoa(processes) + " processes"
}
