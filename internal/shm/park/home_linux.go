package park

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// home is the processor on which the threads of this process wait.
//
// The kernel balances the load of processes that compute. Ranks that wait for each other appear to
// the kernel either as computing all the time or as idle:
//
//   - Where ranks outnumber processors, each rank needs one time slice in a collective, so the
//     collective takes as long as the processor with the most ranks. Eight ranks that yield their
//     time slices may all share one of two processors for a second.
//   - Where every rank has a processor, two ranks may share one beside a third process. Then each
//     spins while the other could do the awaited work: a millisecond a message.
//
// So a thread that yields time slices, or that has spun in vain and is about to sleep, checks its
// processor now and then and moves to its home. A thread that has slept for a nap also moves:
// nobody waits for this thread, and a death that wakes all sleepers then finds them spread over the
// processors. The thread is not bound: the kernel may move the thread again at once, and does so
// when other threads compute on its home.
var home house

type house struct {
	cpu      atomic.Int32 // the number of the processor plus 1; 0: none
	spinners bool         // every rank has a processor
	yields   atomic.Uint32
	sleeps   atomic.Uint32
	away     atomic.Uint32 // yields, or sleeps, until the next check
}

// How often a thread checks its processor. A check costs as much as a yield, and a move about ten
// yields. Where ranks yield time slices, a sleep restarts the count: a thread that sleeps waits for
// something else, for example after a death, and a move would delay the next step.
const (
	lookYields = 64
	moveYields = 512
	moveSleeps = 16
)

// Settle gives this process its home: Settle deals out the processors that the process may use to
// the ranks in turn. With spinners there is a processor for every rank. Settle must be called
// before anything else of this package.
func Settle(rank int, spinners bool) {
	home.spinners = spinners
	var may unix.CPUSet
	if unix.SchedGetaffinity(0, &may) != nil || may.Count() < 2 {
		return
	}
	left := rank % may.Count()
	for cpu := 0; ; cpu++ {
		if may.IsSet(cpu) {
			if left == 0 {
				home.cpu.Store(int32(cpu + 1))
				return
			}
			left--
		}
	}
}

// Yield implements Sleeper. The thread keeps its P meanwhile, as in a nap.
func (Futex) Yield() {
	_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	home.look(&home.yields, lookYields, moveYields)
}

// slept notes that the calling thread is about to sleep.
func slept() {
	home.yields.Store(0)
	if home.spinners {
		home.look(&home.sleeps, 1, moveSleeps)
	}
}

// rest brings the calling thread home.
func (h *house) rest() {
	if cpu := h.cpu.Load(); cpu != 0 {
		comeHome(int(cpu - 1))
	}
}

// look counts calls, and checks the processor of the calling thread every time that the count
// reaches every, or moved if the last check moved the thread.
func (h *house) look(count *atomic.Uint32, every, moved uint32) {
	cpu := h.cpu.Load()
	if cpu == 0 || count.Add(1) < h.away.Load() {
		return
	}
	count.Store(0)
	h.away.Store(every)
	if comeHome(int(cpu - 1)) {
		h.away.Store(moved)
	}
}

// comeHome moves the calling thread to a processor unless the thread is there, and reports whether
// the thread moved. The mask of the thread stays as before.
func comeHome(cpu int) bool {
	var here uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); errno != 0 || int(here) == cpu {
		return false
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var may, there unix.CPUSet
	if unix.SchedGetaffinity(0, &may) != nil || !may.IsSet(cpu) {
		home.cpu.Store(0) // the mask excludes the home: somebody has bound this process elsewhere
		return false
	}
	there.Set(cpu)
	if unix.SchedSetaffinity(0, &there) != nil {
		home.cpu.Store(0)
		return false
	}
	_ = unix.SchedSetaffinity(0, &may) // the mask of before, which was allowed
	return true
}
