package launch

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
	"golang.org/x/sys/unix"
)

// watchTombstones sleeps on the tombstones of up to 128 ranks per thread and
// tells everybody of a death within a fraction of a millisecond: before the
// kernel has taken the dead process's memory apart.
func (j *job) watchTombstones() {
	for lo := 0; lo < j.spec.N; lo += park.AnyMax {
		go j.watchSome(lo, min(lo+park.AnyMax, j.spec.N))
	}
}

func (j *job) watchSome(lo, hi int) {
	runtime.LockOSThread()
	askForShortSlice()
	words, old := make([]*uint32, 0, hi-lo), make([]uint32, 0, hi-lo)
	done := make([]bool, hi-lo)
	var corpses []corpse
	for {
		words, old = words[:0], old[:0]
		for r := lo; r < hi; r++ {
			if done[r-lo] {
				continue
			}
			w := j.node.Tombstone(r)
			v := segment.Load32(w)
			if v&segment.TombstoneDied != 0 {
				done[r-lo] = true
				if dead := j.depart(r, byTombstone); dead != nil && mayComeBack() {
					corpses = append(corpses, corpse{rank: dead})
				}
				continue
			}
			words, old = append(words, w), append(old, v)
		}
		due := nextDue(corpses)
		switch {
		case len(words) > 0:
			if err := park.SleepAny(words, old, due); err != nil {
				return // no futex_waitv: reaping finds the deaths
			}
		case due > 0:
			time.Sleep(time.Duration(due - boot.NowNs()))
		default:
			return
		}
		if due > 0 {
			corpses = j.tend(corpses, boot.NowNs())
		}
	}
}

// How the end of a rank is found.
const (
	byTombstone = "tombstone" // it has died and is not reaped
	byReaping   = "reaping"
	bySilence   = "silence" // it shows no life, and may live
)

// depart puts a rank that has ended into the list that every rank reads, and
// wakes everybody. By how says what told: a tombstone, or reaping. It returns the rank if
// that has died and what is left of it gives way to the living.
func (j *job) depart(number int, how string) (dead *rank) {
	now := boot.NowNs()
	j.mu.Lock()
	r := j.rankOf(number)
	if r == nil || r.declared {
		j.mu.Unlock()
		return nil
	}
	r.declared = true
	r.left = j.node.StateOf(number) == segment.Left
	if !r.left && how == byTombstone {
		giveWay(r.pid)
		dead = r
	}
	why := segment.Died
	if r.left {
		why = segment.Retired
	}
	if !j.spec.Ring || r.left || r.silenced && !j.spec.Fence {
		j.node.AppendDeath(number, why)
	}
	r.how, r.foundNs = how, now
	if how == bySilence { // it is not waited for: what it may still say counts no more
		j.lost(number)
	}
	j.mu.Unlock()
	j.node.WakeAll(park.Futex{})
	return dead
}

// rankOf returns the rank with a process number, or nil.
func (j *job) rankOf(number int) *rank { return j.byNumber[number] }

// reap waits for all children of the launcher, on the thread that started the ranks. They are
// ranks, the commands that build what ranks start (see runBuild), and what ranks have started
// and left behind, which becomes the launcher's.
func (j *job) reap() {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil:
			j.reapOne()
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECHILD) && j.awaitStart():
		default:
			j.mu.Lock()
			none := !j.over // nothing was ever started
			j.over = true
			j.mu.Unlock()
			if none {
				close(j.ended)
			}
			close(j.childless)
			return
		}
	}
}

// reapOne takes the status of a child that has ended, and gives it to whom it concerns.
func (j *job) reapOne() {
	j.forking.Lock()
	defer j.forking.Unlock()
	j.mu.Lock() // nobody sends a signal to a number that is being given back
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if err != nil || pid <= 0 {
		j.mu.Unlock()
		return
	}
	if built := j.builds[pid]; built != nil {
		delete(j.builds, pid)
		built <- status
	}
	r := j.byPid[pid]
	if r != nil {
		delete(j.byPid, pid)
		r.reaped, r.status = true, status
		j.node.SetEnded(r.number)
		j.live--
	}
	last := !j.over && j.live == 0 && j.starting == 0
	j.over = j.over || last
	j.endFenced()
	j.mu.Unlock()
	if r != nil {
		j.depart(r.number, byReaping)
		j.gone(r)
	}
	if last {
		close(j.ended)
	}
}

// awaitStart waits until a process that is being started is there, and says whether
// one was.
func (j *job) awaitStart() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.starting == 0 && j.live == 0 {
		return false
	}
	for j.starting > 0 {
		j.forked.Wait()
	}
	return true
}

// gone judges a rank that was reaped, once all that it has said is heard: that it keeps a
// batch, or at which point it would end itself.
//
//	rank: keep, Finalize, exits      launcher: its tombstone, reaped
//	                                           reads "keep"
//
// Judged before the last step, a batch that all members have kept would have nobody left to
// keep it.
func (j *job) gone(r *rank) {
	r.words.end()
	j.carriers.Go(func() {
		<-r.silent
		j.mu.Lock()
		defer j.mu.Unlock()
		r.heard = true
		j.lost(r.number)
		strangers := j.joined == 0
		if !r.end().lost(strangers) {
			return
		}
		if !r.left {
			j.rep.died(r)
		}
		if j.spec.Survive == SurviveNone {
			j.stopLocked(codeOfLoss(r.end(), strangers), fmt.Sprintf("rank %d: %s (--survive none)", r.number, r.fate()))
		}
	})
}

// codeOfLoss is the exit code of a job that ends with the loss of one rank.
func codeOfLoss(e end, strangers bool) int {
	if code, _ := e.said(strangers); code != 0 {
		return code
	}
	return exitCode(e.status)
}

// fate says how a rank has ended.
func (r *rank) fate() string {
	if r.fenced {
		return "fenced: it was declared dead and stopped itself"
	}
	return describe(r.status)
}
