package park

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func here(t *testing.T) int {
	t.Helper()
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	return int(cpu)
}

func mask(t *testing.T) (m unix.CPUSet) {
	t.Helper()
	if err := unix.SchedGetaffinity(0, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHome: a thread that yields time slices comes to the home of its rank. Each rank has another
// home, and the thread may run on the same processors as before. A thread whose mask excludes the
// home stays away.
func TestHome(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := mask(t)
	if before.Count() < 2 {
		t.Skip("one processor is everybody's home")
	}
	defer func() { home.cpu.Store(0) }()
	homes := map[int32]bool{}
	for rank := range before.Count() {
		Settle(rank, false)
		cpu := home.cpu.Load() - 1
		homes[cpu] = true
		for here(t) != int(cpu) { // the kernel may move this thread at any moment
			home.away.Store(0)
			Futex{}.Yield()
		}
		if after := mask(t); after != before {
			t.Errorf("rank %d may run on %v, before on %v", rank, after, before)
		}
	}
	if len(homes) != before.Count() {
		t.Errorf("%d ranks have the homes %v", before.Count(), homes)
	}
	Settle(0, true)
	for home.away.Store(0); here(t) != int(home.cpu.Load()-1); home.away.Store(0) {
		word := uint32(1)
		Futex{}.Sleep(&word, 0, 0)
	}
	Settle(1, false)
	for here(t) != int(home.cpu.Load()-1) {
		home.rest()
	}
	only := unix.CPUSet{}
	for cpu := range 1024 {
		if before.IsSet(cpu) && int32(cpu) != home.cpu.Load()-1 {
			only.Set(cpu)
			break
		}
	}
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	home.away.Store(0)
	Futex{}.Yield()
	if after := mask(t); after != only || home.cpu.Load() != 0 {
		t.Errorf("it may run on %v, and was told %v; home %d", after, only, home.cpu.Load()-1)
	}
}
