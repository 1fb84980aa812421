package daemon

import (
	"runtime"
	"time"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/job"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/segment"
)

// Watch sleeps on the tombstones of the processes from first on, of up to 128 by one thread,
// and tells the host of a death within a fraction of a millisecond: before the kernel has
// taken the dead process's memory apart.
func (d *Daemon) Watch(first, count int) {
	for lo := first; lo < first+count; lo += park.AnyMax {
		go d.watchSome(lo, min(lo+park.AnyMax, first+count))
	}
}

func (d *Daemon) watchSome(lo, hi int) {
	runtime.LockOSThread()
	askForShortSlice()
	words, old := make([]*uint32, 0, hi-lo), make([]uint32, 0, hi-lo)
	done := make([]bool, hi-lo)
	var corpses []corpse
	for {
		words, old = words[:0], old[:0]
		for number := lo; number < hi; number++ {
			if done[number-lo] {
				continue
			}
			w := d.node.Tombstone(number)
			v := segment.Load32(w)
			if v&segment.TombstoneDied != 0 {
				done[number-lo] = true
				if dead := d.find(number, job.ByTombstone); dead != nil && mayComeBack() {
					corpses = append(corpses, corpse{process: dead})
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
			corpses = d.tend(corpses, boot.NowNs())
		}
	}
}

// find tells the host that a process has ended, unless that is told. It returns the process if
// that has died and what is left of it gives way to the living.
func (d *Daemon) find(number int, by job.Evidence) (dead *process) {
	now := boot.NowNs()
	d.mu.Lock()
	p := d.procs[number]
	if p == nil || p.found {
		d.mu.Unlock()
		return nil
	}
	p.found, p.foundNs = true, now
	left := d.node.StateOf(number) == segment.Left
	if !left && !p.reaped && by == job.ByTombstone {
		p.giveWay()
		dead = p
	}
	d.mu.Unlock()
	d.host.Found(number, by, left, now)
	close(p.told)
	return dead
}
