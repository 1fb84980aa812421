package launch

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/goulfm/goulfm/internal/boot"
	"golang.org/x/sys/unix"
)

const waits = "GOULFM_TEST_WAITS"

func TestMain(m *testing.M) {
	if os.Getenv(waits) != "" { // a process of several threads that ends with its input
		_, _ = os.Stdout.Write([]byte("here\n"))
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// threads returns the threads of a process, in the order in which they were made.
func threads(t *testing.T, pid int) []int {
	t.Helper()
	tids := threadsOf(pid)
	if len(tids) == 0 {
		t.Fatalf("process %d has no threads", pid)
	}
	return tids
}

// someProcess starts a process of several threads, a process group of its own.
func someProcess(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), waits+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if tids := threads(t, cmd.Process.Pid); len(tids) < 2 {
		t.Errorf("a process of %d threads shows nothing", len(tids))
	}
	return cmd.Process.Pid
}

// TestGiveWay: all threads of a process go behind others, and none of its parent does.
func TestGiveWay(t *testing.T) {
	before, pid := niceOf(t, os.Getpid()), someProcess(t)
	want := nicest
	if !mayComeBack() {
		want = min(before+deadNicer, nicest)
	}
	giveWay(pid)
	for _, tid := range threads(t, pid) {
		if got := niceOf(t, tid); got != want {
			t.Errorf("thread %d has the nice value %d, want %d", tid, got, want)
		}
	}
	if got := niceOf(t, os.Getpid()); got != before {
		t.Errorf("the parent has the nice value %d, before %d", got, before)
	}
}

// TestMayComeBack: to find out leaves the threads of this process as they were, its main
// one as well.
func TestMayComeBack(t *testing.T) {
	for range 50 {
		comes := make(chan bool)
		go tryComeBack(comes)
		if got := <-comes; got != mayComeBack() {
			t.Fatalf("%v once, %v before", got, mayComeBack())
		}
	}
	if got := niceOf(t, os.Getpid()); got == deadNice() {
		t.Errorf("the main thread has the nice value %d", got)
	}
}

// TestTend: of two that died one after the other, each gives way at once, stands back a
// little later, and comes back when a repair has a chance to be over.
func TestTend(t *testing.T) {
	if !mayComeBack() {
		t.Log("without the right to undo it: nobody stands back, see giveWay")
		return
	}
	const first, second = 10_000_000_000, 10_000_300_000
	j := &job{}
	corpses := []corpse{{rank: &rank{pid: someProcess(t), foundNs: first}}, {rank: &rank{pid: someProcess(t), foundNs: second}}}
	pids := []int{corpses[0].pid, corpses[1].pid}
	for _, pid := range pids {
		giveWay(pid)
	}
	look := func(pid int) (uint32, int) {
		attr, err := unix.SchedGetAttr(threads(t, pid)[1], 0)
		if err != nil {
			t.Fatal(err)
		}
		return attr.Policy, niceOf(t, threads(t, pid)[1])
	}
	back, over := standBackAfter.Nanoseconds(), boot.RepairTime.Nanoseconds()
	for _, step := range []struct {
		now, next int64
		policy    [2]uint32
		nice      [2]int
	}{
		{first, first + back, [2]uint32{unix.SCHED_NORMAL, unix.SCHED_NORMAL}, [2]int{nicest, nicest}},
		{first + back, second + back, [2]uint32{unix.SCHED_IDLE, unix.SCHED_NORMAL}, [2]int{nicest, nicest}},
		{second + back, first + over, [2]uint32{unix.SCHED_IDLE, unix.SCHED_IDLE}, [2]int{nicest, nicest}},
		{first + over, second + over, [2]uint32{unix.SCHED_NORMAL, unix.SCHED_IDLE}, [2]int{deadNice(), nicest}},
		{second + over, 0, [2]uint32{unix.SCHED_NORMAL, unix.SCHED_NORMAL}, [2]int{deadNice(), deadNice()}},
	} {
		corpses = j.tend(corpses, step.now)
		if got := nextDue(corpses); got != step.next {
			t.Errorf("after %d: due at %d, want %d", step.now-first, got-first, step.next-first)
		}
		for i, pid := range pids {
			if policy, nice := look(pid); policy != step.policy[i] || nice != step.nice[i] {
				t.Errorf("after %d: process %d has the policy %d and the nice value %d, want %d and %d", step.now-first, i, policy, nice, step.policy[i], step.nice[i])
			}
		}
	}
}

// TestSetPolicy: all threads of a process that has died stand back, and come back nicer by
// ten; one that is reaped is left alone, for its number may be another's.
func TestSetPolicy(t *testing.T) {
	if !mayComeBack() {
		t.Log("without the right to undo it: nobody stands back, see giveWay")
		return
	}
	j, r := &job{}, &rank{pid: someProcess(t)}
	all := func(policy uint32, nice int) {
		t.Helper()
		for _, tid := range threads(t, r.pid) {
			attr, err := unix.SchedGetAttr(tid, 0)
			if err != nil {
				t.Fatal(err)
			}
			if attr.Policy != policy || policy == unix.SCHED_NORMAL && attr.Nice != int32(nice) {
				t.Errorf("thread %d has the policy %d and the nice value %d, want %d and %d", tid, attr.Policy, attr.Nice, policy, nice)
			}
		}
	}
	j.setPolicy(r, unix.SCHED_IDLE)
	all(unix.SCHED_IDLE, 0)
	r.reaped = true
	j.setPolicy(r, unix.SCHED_NORMAL)
	all(unix.SCHED_IDLE, 0)
	r.reaped = false
	j.setPolicy(r, unix.SCHED_NORMAL)
	all(unix.SCHED_NORMAL, deadNice())
}

// niceOf turns what the system call returns into a nice value.
func niceOf(t *testing.T, tid int) int {
	t.Helper()
	v, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - v
}

// TestCalmMonitor: one thread of the runtime gives way, not the main one, and the program
// has a processor more for each thread of the launcher that blocks.
func TestCalmMonitor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	before := cores()
	defer func() { // threads that it starts are like it, and what they start
		if tid := firstThread(); mayComeBack() {
			_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Nice: int32(niceOf(t, os.Getpid()))}, 0)
		}
	}()
	calmMonitor(129)
	if got := runtime.GOMAXPROCS(0); got != before+3 || cores() != before {
		t.Errorf("%d processors and %d for jobs, want %d and %d", got, cores(), before+3, before)
	}
	for i, tid := range threads(t, os.Getpid()) {
		attr, err := unix.SchedGetAttr(tid, 0)
		if err != nil {
			continue // it has ended
		}
		if calm := attr.Policy == unix.SCHED_IDLE; calm != (i == 1) {
			t.Errorf("thread %d of the list has the policy %d", i, attr.Policy)
		}
	}
}
