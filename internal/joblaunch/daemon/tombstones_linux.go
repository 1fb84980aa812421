package daemon

import (
	"runtime"
	"time"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Watch sleeps on the tombstones of the processes from first on, of up to 128 by one thread, and
// reports a death to the host within a fraction of a millisecond: before the kernel has taken the
// dead process's memory apart.
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
		for slot := lo; slot < hi; slot++ {
			if done[slot-lo] {
				continue
			}
			number, v := readTombstone(d.node, slot)
			if v&segment.TombstoneDied != 0 {
				if pausepoint.Enabled {
					pausepoint.At("daemon.tombstone")
				}
				done[slot-lo] = true
				if dead := d.find(number, job.ByTombstone); dead != nil && mayComeBack() {
					corpses = append(corpses, corpse{process: dead})
				}
				continue
			}
			words, old = append(words, d.node.Tombstone(slot)), append(old, v)
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

// readTombstone returns the tombstone word of a slot and the number of the process that owns it.
// Vacate clears the word before it moves the generation: a word read between two equal generations
// belongs to that generation.
//
//	watcher                               daemon
//	reads that the process has died
//	                                      reaps it, vacates the slot, starts the next process there
//	finds the process of the slot:
//	the next one, which is declared dead
func readTombstone(node *segment.Node, slot int) (number int, word uint32) {
	for {
		generation := node.Generation(slot)
		word = segment.Load32(node.Tombstone(slot))
		if node.Generation(slot) == generation {
			return job.NumberOf(slot, int(generation)), word
		}
	}
}

// find reports to the host that the process with a number has ended, unless that was reported or
// another process has its slot. It returns the process if it has died and its remains now give way
// to the living.
func (d *Daemon) find(number int, by job.Evidence) (dead *process) {
	now := boot.NowNs()
	d.mu.Lock()
	p := d.procs.with(number)
	if p == nil || p.found {
		d.mu.Unlock()
		return nil
	}
	p.found, p.foundNs = true, now
	left := d.node.StateOf(p.slot) == segment.Left
	if !left && !p.reaped && by == job.ByTombstone {
		p.giveWay()
		dead = p
	}
	d.mu.Unlock()
	d.host.Found(number, by, left, now)
	close(p.told)
	return dead
}
