package launch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
)

// A rank that is watched for life counts up a word while it makes calls. The launcher looks
// at it eight times in the duration after which it is killed, and asks one that has not
// counted since the last but one look to do so.
const (
	looksPerDuration = 8
	asksEvery        = 2 // looks
)

// watchLife kills ranks that show no life for the duration asked for: stopped from
// outside, or hung in the kernel. What is killed is then reaped and declared like any
// other death, so nobody lives on who was declared dead. The launcher counts its own
// looks and not the time: if it was late itself, a rank that was not is given credit.
func (j *job) watchLife() {
	tick := time.NewTicker(j.spec.SuspectAfter / looksPerDuration)
	defer tick.Stop()
	beats, still := make([]uint32, j.node.Procs()), make([]int, j.node.Procs())
	for {
		select {
		case <-j.ended:
			return
		case <-tick.C:
		}
		for number := range j.node.Started() {
			now := j.node.Beats(number)
			if now == 0 || j.node.StateOf(number) == segment.Left { // 0: it has not joined
				continue
			}
			if now != beats[number] {
				beats[number], still[number] = now, 0
				continue
			}
			switch still[number]++; {
			case still[number] > looksPerDuration: // an answer may fall between two looks
				j.killSilent(number)
			case still[number]%asksEvery == 0:
				j.askForLife(number)
			}
		}
	}
}

// endSilent ends a rank that the ring has found silent, says rank by. If it has ended it is
// only now let known, so that the ring is what finds deaths. The caller holds mu.
func (j *job) endSilent(number, by int) {
	r := j.rankOf(number)
	if r == nil || r.silenced || r.left || j.spec.Fence {
		return
	}
	r.silenced = true
	if !r.declared {
		if !r.reaped {
			j.rep.note("suspect", "rank %d shows no life to rank %d: killed (--detector ring)", number, by)
			_ = syscall.Kill(r.pid, syscall.SIGKILL)
		}
		return
	}
	j.node.AppendDeath(number, segment.Died)
	j.node.WakeAll(park.Futex{})
}

// askForLife asks a rank to show that it lives.
func (j *job) askForLife(number int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.rankOf(number); r != nil && !r.silenced {
		r.say(boot.Message{What: boot.SaysAlive})
	}
}

// fencedGrace is how long one that was declared dead and goes on may take to end itself.
const fencedGrace = 2 * time.Second

// endFenced kills who was declared dead and never went on, once nobody else is left.
// Who has gone on ends itself, and says so: it may just have been continued by the last
// one to finish. The caller holds mu.
func (j *job) endFenced() {
	waiting := func(r *rank) bool { return !r.reaped && !(j.spec.Fence && r.silenced) }
	if !j.spec.Fence || j.starting > 0 || slices.ContainsFunc(j.ranks, waiting) {
		return
	}
	for _, r := range j.ranks {
		switch {
		case r.reaped:
		case inState(r.pid, 'T'):
			_ = syscall.Kill(r.pid, syscall.SIGKILL)
		default:
			time.AfterFunc(fencedGrace, func() { j.signalRank(r, syscall.SIGKILL) })
		}
	}
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

func (j *job) killSilent(number int) {
	j.mu.Lock()
	r := j.rankOf(number)
	gone := r == nil || r.reaped || r.declared || r.silenced
	j.mu.Unlock()
	if gone || wantsProcessor(r.pid) {
		return
	}
	j.mu.Lock()
	r.silenced = true
	j.mu.Unlock()
	if j.spec.Fence {
		j.rep.note("suspect", "rank %d shows no life for %s: declared dead (--suspect-after, --fence)", number, j.spec.SuspectAfter)
		j.depart(number, "silence")
		return
	}
	j.rep.note("suspect", "rank %d shows no life for %s: killed (--suspect-after)", number, j.spec.SuspectAfter)
	j.signalRank(r, syscall.SIGKILL)
}
