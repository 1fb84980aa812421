package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A process that is watched for life counts up a word while it makes calls. The daemon polls the
// word eight times in the duration after which the process counts as dead. If the word has not
// moved for two polls, the daemon requests a proof of life.
const (
	looksPerDuration = 8
	asksEvery        = 2 // polls
)

// A pulse is the state of the watch for life of one slot.
type pulse struct {
	number int
	beats  uint32 // beats at the last poll
	still  int    // polls since they changed
}

// WatchLife reports to the host each process that shows no life for the duration after: it is
// stopped from outside, or hangs in the kernel. The daemon counts its own polls and not the time: a
// late daemon does not blame a process that was in time. WatchLife returns when the job is over.
func (d *Daemon) WatchLife(after time.Duration) {
	tick := time.NewTicker(after / looksPerDuration)
	defer tick.Stop()
	pulses := make([]pulse, d.node.Procs())
	for {
		select {
		case <-d.ended:
			return
		case <-tick.C:
		}
		for slot := range d.node.Started() {
			pulses[slot].feel(d, slot)
		}
	}
}

// feel searches for life of the process in a slot. Counts of an earlier process in the slot do not
// apply to the next one.
func (p *pulse) feel(d *Daemon, slot int) {
	number, beats := d.Number(slot), d.node.Beats(slot)
	if number != p.number {
		*p = pulse{number: number}
	}
	if beats == 0 || d.node.StateOf(slot) == segment.Left { // 0: it has not joined
		return
	}
	if beats != p.beats || d.isStill() {
		p.beats, p.still = beats, 0
		return
	}
	switch p.still++; {
	case p.still > looksPerDuration: // an answer may fall between two polls
		if d.isLifeless(number) {
			if pausepoint.Enabled {
				pausepoint.At("daemon.lifeless")
			}
			d.host.NoLife(number, boot.NowNs())
		}
	case p.still%asksEvery == 0:
		d.Say(number, rankproto.Prove{})
	}
}

// isLifeless reports whether a process that shows no life is also not waiting for a processor.
func (d *Daemon) isLifeless(number int) bool {
	d.mu.Lock()
	p := d.procs.with(number)
	gone := p == nil || p.reaped || p.found
	d.mu.Unlock()
	return !gone && !wantsProcessor(p.pid)
}

// fencedGrace is how long a process that was declared dead and continues may take to end itself.
const fencedGrace = 2 * time.Second

// EndFenced ends a process that was declared dead and runs on: at once if it is stopped. Otherwise
// it may just have been continued: given some time it ends itself, and reports that.
func (d *Daemon) EndFenced(number int) {
	if pid := d.Pid(number); pid != 0 && inState(pid, 'T') {
		d.Signal(number, syscall.SIGKILL)
		return
	}
	time.AfterFunc(fencedGrace, func() { d.Signal(number, syscall.SIGKILL) })
}

// wantsProcessor reports whether a thread of a process runs or waits for a processor: such a
// process lives, but cannot show that on an overloaded machine.
func wantsProcessor(pid int) bool { return inState(pid, 'R') }

// inState reports whether a thread of a process is in a state: R is running or runnable, T is
// stopped.
func inState(pid int, state byte) bool {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // that thread has ended
		}
		// "7 (a name) R ...": the name may contain anything.
		if end := bytes.LastIndexByte(text, ')'); end >= 0 && bytes.HasPrefix(text[end:], []byte{')', ' ', state}) {
			return true
		}
	}
	return false
}
