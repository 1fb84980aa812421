package park

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// home is the processor on which the threads of this process wait, where ranks outnumber
// processors.
//
// There each rank needs one turn in a collective, so it takes as long as the processor
// with the most ranks does. The kernel balances what computes; of eight ranks that give
// their turns away all may share one of two processors for a second. So a thread that
// gives turns away looks now and then where it is, and moves to its home. It is not
// bound: the kernel may move it again at once, and does when others compute there.
var home struct {
	cpu    atomic.Int32 // and 1; 0: none
	yields atomic.Uint32
	away   atomic.Uint32 // yields until the next look
}

// How often a thread looks: a look costs as much as a yield, a move some ten of them. It
// does not where it sleeps in between: then ranks wait for something else than turns, as
// after a death, and a move would delay what comes.
const (
	lookEvery = 64
	moveEvery = 512
)

// Settle gives this process its home: the processors that it may use are dealt out to
// the ranks in turn.
func Settle(rank int) {
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
	if cpu := home.cpu.Load(); cpu > 0 && home.yields.Add(1) >= home.away.Load() {
		home.yields.Store(0)
		home.away.Store(lookEvery)
		if comeHome(int(cpu - 1)) {
			home.away.Store(moveEvery)
		}
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
