package daemon

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/stretchr/testify/assert"
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

// someProcess starts a process of several threads, a process group of its own, and stops it: like a
// dead process it makes no more threads, which would inherit the policy of their maker.
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
	t.Cleanup(func() { in.Close(); _ = cmd.Process.Signal(syscall.SIGCONT); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var stopped unix.WaitStatus
	if _, err := unix.Wait4(cmd.Process.Pid, &stopped, unix.WUNTRACED, nil); err != nil || !stopped.Stopped() {
		t.Fatalf("%v, status %v", err, stopped)
	}
	if tids := threads(t, cmd.Process.Pid); len(tids) < 2 {
		t.Errorf("a process of %d threads shows nothing", len(tids))
	}
	return cmd.Process.Pid
}

// TestGiveWay: all threads of a process yield to others, and none of its parent does.
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
	d := newDaemon(&record{})
	corpses := []corpse{{process: &process{pid: someProcess(t), foundNs: first}}, {process: &process{pid: someProcess(t), foundNs: second}}}
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
		corpses = d.tend(corpses, step.now)
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
	d, p := newDaemon(&record{}), &process{pid: someProcess(t)}
	all := func(policy uint32, nice int) {
		t.Helper()
		for _, tid := range threads(t, p.pid) {
			attr, err := unix.SchedGetAttr(tid, 0)
			if err != nil {
				t.Fatal(err)
			}
			if attr.Policy != policy || policy == unix.SCHED_NORMAL && attr.Nice != int32(nice) {
				t.Errorf("thread %d has the policy %d and the nice value %d, want %d and %d", tid, attr.Policy, attr.Nice, policy, nice)
			}
		}
	}
	d.setPolicy(p, unix.SCHED_IDLE)
	all(unix.SCHED_IDLE, 0)
	p.reaped = true
	d.setPolicy(p, unix.SCHED_NORMAL)
	all(unix.SCHED_IDLE, 0)
	p.reaped = false
	d.setPolicy(p, unix.SCHED_NORMAL)
	all(unix.SCHED_NORMAL, deadNice())
}

// niceOf converts the result of the system call into a nice value.
func niceOf(t *testing.T, tid int) int {
	t.Helper()
	v, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - v
}

// TestCalm: the first thread of the runtime preempts nobody, the main one may, and the
// program has a processor more for each thread of the launcher that blocks. Threads that the
// monitor starts are like it, so it keeps its share of processor time: none is SCHED_IDLE.
func TestCalm(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	before := Cores()
	defer endCalm()
	Calm(129)
	assert.Equal(t, before+3, runtime.GOMAXPROCS(0), "processors of the launcher")
	assert.Equal(t, before, Cores(), "processors for jobs")
	defer blockThreads(t, 8)()
	for i, tid := range threads(t, os.Getpid()) {
		attr, err := unix.SchedGetAttr(tid, 0)
		if err != nil {
			continue // it has ended
		}
		assert.NotEqual(t, uint32(unix.SCHED_IDLE), attr.Policy, "thread %d of the list", i)
		switch i {
		case 0:
			assert.Equal(t, uint32(unix.SCHED_NORMAL), attr.Policy, "the main thread")
		case 1:
			assert.Equal(t, uint32(unix.SCHED_BATCH), attr.Policy, "the monitor")
			assert.Equal(t, int32(ownNice()), attr.Nice)
		}
	}
}

// endCalm gives all threads of this process their usual policy back, including those that the
// monitor has made meanwhile, and those that they make: a process that another test starts from one
// of them would inherit its policy.
func endCalm() {
	for found := true; found; {
		found = false
		for _, tid := range threadsOf(os.Getpid()) {
			if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy == unix.SCHED_BATCH {
				found = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_NORMAL, Nice: int32(ownNice())}, 0) == nil || found
			}
		}
	}
}

// blockThreads has n threads block in the kernel, for each of which the monitor finds another;
// the function that it returns ends that.
func blockThreads(t *testing.T, n int) (end func()) {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	var blocked sync.WaitGroup
	for range n {
		blocked.Go(func() { _, _ = unix.Read(p[0], make([]byte, 1)) })
	}
	for len(threadsOf(os.Getpid())) < n {
		runtime.Gosched()
	}
	return func() {
		unix.Close(p[1])
		blocked.Wait()
		unix.Close(p[0])
	}
}
