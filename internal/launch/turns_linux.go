package launch

import (
	"os"
	"runtime"
	"strconv"
	"sync"

	"github.com/goulfm/goulfm/internal/park"
	"golang.org/x/sys/unix"
)

// Right after a death the survivors of a node want all its processors at once, often more
// than there are: each hears of the death, agrees and repairs. Whatever else runs makes
// all of them wait, so what the launcher has to do with turns of processors is here.

// cores is what jobs may use here: the affinity mask, and the runtime's view of the
// cgroup's quota, before the launcher took more for itself.
var cores = sync.OnceValue(func() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) })

// askForShortSlice asks the scheduler to run this thread in turns of 0.1 ms: such a
// thread goes before others when it wakes, also where all ranks compute. Kernels
// from 6.12 on know it; others ignore it.
func askForShortSlice() {
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Runtime: 100_000}, 0)
}

// A process that has died is nicer by deadNicer than the launcher, and so than it was: the
// kernel takes its memory apart in its turns, half a millisecond for a small one, without
// a break. With a tenth of a share it does so where nobody else wants to run, and still in
// seconds where everybody computes.
const (
	deadNicer = 10
	nicest    = 19
)

var deadNice = sync.OnceValue(func() int {
	left, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // the system call counts down from 20
	if err != nil {
		return nicest
	}
	return min(20-left+deadNicer, nicest)
})

// giveWay lets the living go before a process that has died and is not reaped. Every
// rank is a process group: all threads are meant, for nobody knows which is the last.
func giveWay(pid int) { _ = unix.Setpriority(unix.PRIO_PGRP, pid, deadNice()) }

// calmMonitor lets the monitor thread of this process's Go runtime run only where nobody
// else wants to. It looks around every 20 us for some milliseconds whenever the launcher
// has something to do, so just when ranks repair, and each look takes one of them its
// processor. The monitor is the first thread that the runtime makes, and lives as long as
// the process.
//
// What it does for others is to take processors of the runtime from threads that block in
// the kernel. So that nobody waits for that there is one more for each of those: the
// reaper, and who watches tombstones of so many ranks.
func calmMonitor(ranks int) {
	runtime.GOMAXPROCS(cores() + 1 + (ranks+park.AnyMax-1)/park.AnyMax)
	if tid := firstThread(); tid > 0 {
		_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_IDLE}, 0)
	}
}

// firstThread returns the thread that was made first after the main one, or 0: the
// kernel lists them in that order.
func firstThread() int {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil || len(names) < 2 {
		return 0
	}
	tid, _ := strconv.Atoi(names[1])
	return tid
}
