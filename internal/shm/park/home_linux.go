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
// The kernel balances what computes; ranks that wait for each other look to it as if they
// did, or as if they did nothing:
//
//   - Where ranks outnumber processors each needs one time slice in a collective, so it takes as
//     long as the processor with the most ranks does. Of eight ranks that give their time slices
//     away all may share one of two processors for a second.
//   - Where every rank has a processor, two of them may share one beside a third process.
//     Each spins then while the other could do what it waits for: a millisecond a message.
//
// So a thread that yields time slices, or has spun in vain and goes to sleep, looks now and
// then where it is, and moves to its home. So does one that has slept for a nap: nobody
// waits for it, and when a death wakes all who sleep they are spread over the processors.
// It is not bound: the kernel may move it again at once, and does when others compute
// there.
var home house

type house struct {
	cpu      atomic.Int32 // and 1; 0: none
	spinners bool         // every rank has a processor
	yields   atomic.Uint32
	sleeps   atomic.Uint32
	away     atomic.Uint32 // yields, or sleeps, until the next poll
}

// How often a thread looks: a poll costs as much as a yield, a move some ten of them.
// Where ranks yield time slices it does not look if it sleeps in between: then they wait
// for something else, as after a death, and a move would delay what comes.
const (
	lookYields = 64
	moveYields = 512
	moveSleeps = 16
)

// Settle gives this process its home: the processors that it may use are dealt out to
// the ranks in turn. spinners says that there is one for every rank. It is called before
// anything else here.
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

// slept notes that the calling thread goes to sleep.
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

// look counts, and now and then looks where the calling thread is: the every-th time, or
// the moved-th after it had to move.
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

// comeHome moves the calling thread to a processor, unless it is there, and says whether
// it did. Where the thread may run besides is what it was.
func comeHome(cpu int) bool {
	var here uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); errno != 0 || int(here) == cpu {
		return false
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var may, there unix.CPUSet
	if unix.SchedGetaffinity(0, &may) != nil || !may.IsSet(cpu) {
		home.cpu.Store(0) // somebody wants it elsewhere
		return false
	}
	there.Set(cpu)
	if unix.SchedSetaffinity(0, &there) != nil {
		home.cpu.Store(0)
		return false
	}
	_ = unix.SchedSetaffinity(0, &may) // it was allowed before
	return true
}
