package launch

import (
	"syscall"
	"time"
)

// A rank that is watched for life counts up a word from a thread of its own, eight
// times in the duration after which it is killed.
const beatsPerDuration = 8

// watchLife kills ranks that show no life for the duration asked for: stopped from
// outside, or hung in the kernel. What is killed is then reaped and declared like any
// other death, so nobody lives on who was declared dead. The launcher counts its own
// looks and not the time: if it was late itself, a rank that was not is given credit.
func (j *job) watchLife() {
	tick := time.NewTicker(j.spec.SuspectAfter / beatsPerDuration)
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
			switch {
			case now == 0: // has not joined, or left
			case now != beats[number]:
				beats[number], still[number] = now, 0
			default:
				if still[number]++; still[number] == beatsPerDuration+1 { // it beats as often: one may fall between two looks
					j.killSilent(number)
				}
			}
		}
	}
}

func (j *job) killSilent(number int) {
	j.mu.Lock()
	r := j.rankOf(number)
	gone := r == nil || r.reaped || r.declared
	j.mu.Unlock()
	if gone {
		return
	}
	j.rep.note("suspect", "rank %d shows no life for %s: killed (--suspect-after)", number, j.spec.SuspectAfter)
	j.signalRank(r, syscall.SIGKILL)
}
