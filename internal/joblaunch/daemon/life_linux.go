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

// A process that is watched for life counts up a word while it makes calls. The daemon looks
// at it eight times in the duration after which it counts as dead, and asks one that has not
// counted since the last but one look to do so.
const (
	looksPerDuration = 8
	asksEvery        = 2 // looks
)

// A pulse is what the watch for life knows of the process in a seat.
type pulse struct {
	number int
	beats  uint32 // that were counted at the last look
	still  int    // looks since they changed
}

// WatchLife tells the host of each process that shows no life for that long: it is stopped from
// outside, or hangs in the kernel. The daemon counts its own looks and not the time: if it was
// late itself, a process that was not is given credit. It returns when the job is over.
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
		for seat := range d.node.Started() {
			pulses[seat].feel(d, seat)
		}
	}
}

// feel looks for life of the process in a seat. What was known of the process before says nothing
// about the next one in the seat.
func (p *pulse) feel(d *Daemon, seat int) {
	number, beats := d.Number(seat), d.node.Beats(seat)
	if number != p.number {
		*p = pulse{number: number}
	}
	if beats == 0 || d.node.StateOf(seat) == segment.Left { // 0: it has not joined
		return
	}
	if beats != p.beats || d.isStill() {
		p.beats, p.still = beats, 0
		return
	}
	switch p.still++; {
	case p.still > looksPerDuration: // an answer may fall between two looks
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

// isLifeless says whether a process that shows no life does not even want a processor.
func (d *Daemon) isLifeless(number int) bool {
	d.mu.Lock()
	p := d.procs.with(number)
	gone := p == nil || p.reaped || p.found
	d.mu.Unlock()
	return !gone && !wantsProcessor(p.pid)
}

// fencedGrace is how long a process that was declared dead and goes on may take to end itself.
const fencedGrace = 2 * time.Second

// EndFenced ends a process that was declared dead and runs on: now if it is stopped; else it
// may just have been continued, and ends itself, and says so, if it is given some time.
func (d *Daemon) EndFenced(number int) {
	if pid := d.Pid(number); pid != 0 && inState(pid, 'T') {
		d.Signal(number, syscall.SIGKILL)
		return
	}
	time.AfterFunc(fencedGrace, func() { d.Signal(number, syscall.SIGKILL) })
}

// wantsProcessor says whether a thread of a process runs or waits for a processor: it
// lives, and on a machine with too much to do it cannot show it.
func wantsProcessor(pid int) bool { return inState(pid, 'R') }

// inState says whether a thread of a process is in a state: R runs or wants to, T is
// stopped.
func inState(pid int, state byte) bool {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // that thread is gone
		}
		// "7 (a name) R ...": the name may contain anything.
		if end := bytes.LastIndexByte(text, ')'); end >= 0 && bytes.HasPrefix(text[end:], []byte{')', ' ', state}) {
			return true
		}
	}
	return false
}
