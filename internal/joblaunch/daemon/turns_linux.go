package daemon

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/shm/park"
	"golang.org/x/sys/unix"
)

// Right after a death the survivors of a node need all its processors at once, often more than
// there are: each learns of the death, agrees and repairs. Any other thread that runs makes all of
// them wait. This file holds the daemon's control of time slices.

// Cores is the number of processors that jobs may use here: the affinity mask, and the runtime's
// view of the cgroup's quota, before the daemon took more for itself.
var Cores = sync.OnceValue(func() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) })

// askForShortSlice asks the scheduler to run this thread in time slices of 0.1 ms: such a thread
// precedes others when it wakes, also where all ranks compute. Kernels from 6.12 on support this;
// others ignore it.
func askForShortSlice() {
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Runtime: 100_000}, 0)
}

// Hurry gives this thread, to which its goroutine is locked, precedence over others: by short time
// slices, and where the daemon may, by a priority of its own. Threads that start processes must not
// call it: these would have the priority, too.
func Hurry() {
	askForShortSlice()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), hurriedNice)
}

const hurriedNice = -10

// A process that has died is nicer by deadNicer than the daemon, and so than it was: the kernel
// frees its memory in the time slices of the process, half a millisecond or two for a small one,
// without a break. With a tenth of a share it does so on idle processors, and still within seconds
// where everybody computes.
//
// A nice value higher by ten is not enough while survivors repair and yield as they wait for each
// other: the scheduler counts each yielded time slice as a full one. After a dozen it owes the dead
// process a slice of one to three milliseconds, for which all on that processor wait:
//
//	0 and 2, processor 0            1 and 3, processor 1
//	yield, yield, yield, ...        remains of the dead: 1.7 ms
//	wait for 1 and 3                have had no time slice to contribute in
//
// The dead process therefore first gets the highest nice value, which is one system call and
// suffices for some seventy yields by each survivor. If the repair is not over after
// standBackAfter, the dead process runs on idle processors only: a dozen calls, a tenth of a
// millisecond of the daemon, for which survivors would have to wait. After boot.RepairTime it is
// nicer by ten.
const (
	deadNicer      = 10
	nicest         = 19
	standBackAfter = 2 * time.Millisecond // of 16 ranks on two cores it is
)

var deadNice = sync.OnceValue(func() int { return min(ownNice()+deadNicer, nicest) })

// firstNice is how nice a process is that has just died.
func firstNice() int {
	if mayComeBack() {
		return nicest
	}
	return deadNice()
}

// giveWay gives the living precedence over a process that has died and is not reaped. Every rank is
// a process group: the call covers all threads, for nobody knows which is the last.
func giveWay(pid int) { _ = unix.Setpriority(unix.PRIO_PGRP, pid, firstNice()) }

// A corpse is a process that has died and for which giveWay was called.
type corpse struct {
	*process
	standsBack bool
}

// due is when, by boot.NowNs, the next thing is to be done about its turns.
func (c corpse) due() int64 {
	if c.standsBack {
		return c.foundNs + boot.RepairTime.Nanoseconds()
	}
	return c.foundNs + standBackAfter.Nanoseconds()
}

// tend takes the due action for each corpse, and returns the corpses that need more actions.
func (d *Daemon) tend(corpses []corpse, now int64) []corpse {
	left := corpses[:0]
	for _, c := range corpses {
		if c.due() <= now {
			if c.standsBack {
				d.setPolicy(c.process, unix.SCHED_NORMAL)
				continue
			}
			d.setPolicy(c.process, unix.SCHED_IDLE)
			c.standsBack = true
		}
		left = append(left, c)
	}
	return left
}

// nextDue returns when the first of them is due, or 0 without any.
func nextDue(corpses []corpse) int64 {
	next := int64(0)
	for _, c := range corpses {
		if next == 0 || c.due() < next {
			next = c.due()
		}
	}
	return next
}

// setPolicy changes how the threads of a process that has died are scheduled, if it still
// has the number.
func (d *Daemon) setPolicy(p *process, policy uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.reaped {
		return
	}
	for _, tid := range threadsOf(p.pid) {
		_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: policy, Nice: int32(deadNice())}, 0)
	}
}

// mayComeBack reports whether a thread with the policy SCHED_IDLE may return to SCHED_NORMAL.
// Without that right the memory of the dead would not be freed for as long as everybody computes.
var mayComeBack = sync.OnceValue(func() bool {
	comes := make(chan bool)
	go tryComeBack(comes)
	return <-comes
})

// tryComeBack tries that on a thread that ends with it. The main thread never ends; on that thread
// another goroutine does the work.
func tryComeBack(comes chan<- bool) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		others := make(chan bool)
		go tryComeBack(others)
		comes <- <-others
		runtime.UnlockOSThread()
		return
	}
	err := unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_IDLE}, 0)
	if err == nil {
		err = unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Nice: int32(deadNice())}, 0)
	}
	comes <- err == nil
}

// Calm keeps the monitor thread of this process's Go runtime from taking a processor away from a
// running thread. The monitor polls every 20 us for some milliseconds whenever the daemon has
// something to do: just when ranks repair. The monitor is the first thread that the runtime makes,
// and lives as long as the process.
//
// A thread of the policy SCHED_BATCH preempts nobody when it wakes, and has a full share of
// processor time. The share matters: the monitor also makes threads for the runtime, these
// have its policy, and so have the threads that they make. Under SCHED_IDLE, with a weight
// of 3 beside 1024 for each thread that computes, half of the daemon would have stood still
// on a loaded machine, one of its threads perhaps with a lock that all others need.
//
// For others the monitor takes processors of the runtime from threads that block in the kernel. To
// avoid waits for that, there is one more processor for each of these threads: the reaper, and the
// watchers of the tombstones of procs processes.
func Calm(procs int) {
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), Cores()+1+(procs+park.AnyMax-1)/park.AnyMax))
	_ = mayComeBack() // a death is no time to find out
	if tid := firstThread(); tid > 0 {
		_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_BATCH, Nice: int32(ownNice())}, 0)
	}
}

// ownNice is the nice value of the daemon.
func ownNice() int {
	left, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // the system call counts down from 20
	if err != nil {
		return 0
	}
	return 20 - left
}

// firstThread returns the thread that was made first after the main one, or 0.
func firstThread() int {
	if tids := threadsOf(os.Getpid()); len(tids) > 1 {
		return tids[1]
	}
	return 0
}

// threadsOf returns the threads of a process, in the order in which they were made, which
// is how the kernel lists them.
func threadsOf(pid int) (tids []int) {
	dir, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}
