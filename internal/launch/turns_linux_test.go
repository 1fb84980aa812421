package launch

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

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
func threads(t *testing.T, pid int) (tids []int) {
	t.Helper()
	dir, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil {
			t.Fatal(err)
		}
		tids = append(tids, tid)
	}
	return tids
}

// TestGiveWay: all threads of a process go behind others, and none of its parent does.
func TestGiveWay(t *testing.T) {
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
	defer func() { in.Close(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	before := niceOf(t, os.Getpid())
	giveWay(cmd.Process.Pid)
	tids := threads(t, cmd.Process.Pid)
	if len(tids) < 2 {
		t.Errorf("a process of %d threads shows nothing", len(tids))
	}
	for _, tid := range tids {
		if got, want := niceOf(t, tid), min(before+deadNicer, nicest); got != want {
			t.Errorf("thread %d has the nice value %d, want %d", tid, got, want)
		}
	}
	if got := niceOf(t, os.Getpid()); got != before {
		t.Errorf("the parent has the nice value %d, before %d", got, before)
	}
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
