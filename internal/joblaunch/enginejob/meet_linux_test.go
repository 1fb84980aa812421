package enginejob_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// roundsVariable sets the number of rounds of TestMeeting: ADOPT_TEST_ROUNDS=10000 go test
// ./internal/joblaunch/enginejob -run TestMeeting -timeout 1h.
const roundsVariable = "ADOPT_TEST_ROUNDS"

// TestMeeting makes six ranks come at once, again and again. The ranks that become the starter of
// the daemon kill themselves after they have bound the socket, listened, or forked. Each that
// dies so is started again, with the same rank. In the end all are in one daemon's world, each
// with its own rank.
func TestMeeting(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	if text := os.Getenv(roundsVariable); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		rounds = n
	}
	points, killed := []string{"bind", "listen", "fork", ""}, map[string]int{}
	s := newStep(t, 6)
	for round := range rounds {
		s.number = round
		var all sync.WaitGroup
		slots := make([]slot, s.size)
		for number := range slots {
			all.Go(func() { slots[number].take(s, number, points[(round+7*number)%len(points)]) })
		}
		all.Wait()
		jobs := map[string]int{}
		for number, slot := range slots {
			require.NoError(t, slot.err, "round %d", round)
			job, place, _ := strings.Cut(slot.end(), " ")
			require.Equal(t, strconv.Itoa(number), place, "round %d", round)
			jobs[job]++
			killed[slot.killed]++
		}
		require.Len(t, jobs, 1, "round %d: %v", round, jobs)
	}
	t.Logf("%d rounds, starters killed: %v", rounds, killed)
	for _, point := range points[:3] {
		assert.Positive(t, killed[point], "nobody was killed at %s: nothing was tested", point)
	}
}

// A slot is a rank of a round, which may be two processes, one after the other.
type slot struct {
	killed string // the point at which the first process died, or empty
	outs   []*os.File
	err    error
}

// take starts a process that is to die at a point, and another one after its death.
func (s *slot) take(step step, number int, die string) {
	for _, die := range []string{die, ""} {
		out, w, err := os.Pipe()
		if err != nil {
			s.err = err
			return
		}
		s.outs = append(s.outs, out)
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(step.env(number), programVariable+"=find", dieVariable+"="+die, "GOULFM_QUIET=1")
		cmd.Stdout, cmd.Stderr = w, w
		s.err = cmd.Start()
		w.Close()
		if s.err != nil {
			return
		}
		state, err := cmd.Process.Wait() // not for its output, which a daemon has
		if err != nil || !state.Sys().(syscall.WaitStatus).Signaled() {
			s.err = err
			return
		}
		s.killed = die
	}
}

// end waits until all processes that have the output, daemons among them, have ended, and returns
// the output.
func (s *slot) end() string {
	var text strings.Builder
	for _, out := range s.outs {
		_, _ = io.Copy(&text, out)
		out.Close()
	}
	return strings.TrimSpace(text.String())
}

// as runs f in a thread of another user, and ends that thread.
func as(t *testing.T, uid int, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			done <- errno
			return
		}
		f()
		done <- nil
	}()
	require.NoError(t, <-done)
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("takes root: to be another user")
	}
}

const otherUser = 65534

// TestAnotherUserHoldsThePlace: that is an error, with the uid of the holder, and no second
// place.
func TestAnotherUserHoldsThePlace(t *testing.T) {
	needsRoot(t)
	s := newStep(t, 2)
	place := s.place(os.Getuid())
	var ln net.Listener
	as(t, otherUser, func() {
		var err error
		ln, err = net.Listen("unix", place)
		assert.NoError(t, err)
	})
	for _, r := range s.startAll("sum") {
		assert.Equal(t, 3, r.wait().code)
		assert.Contains(t, r.errs.String(), fmt.Sprintf("the meeting place of this job is held by uid %d", otherUser))
	}
	ln.Close()
}

// TestAnotherUserComes: the claim of another user is not read, and the world comes about without
// it.
func TestAnotherUserComes(t *testing.T) {
	needsRoot(t)
	s := newStep(t, 2)
	all := []*rank{s.start("sum", 0, "ADOPT_TEST_SAY=waiting")}
	assert.Equal(t, "waiting", all[0].line())
	place := s.place(os.Getuid())
	as(t, otherUser, func() {
		conn, err := net.Dial("unix", place)
		if !assert.NoError(t, err) {
			return
		}
		defer conn.Close()
		body := `{"v":1,"key":"x","rank":1,"size":2}`
		_, _ = conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...))
		text, _ := io.ReadAll(conn)
		assert.Empty(t, text)
	})
	all = append(all, s.start("sum", 1))
	for number, r := range all {
		assert.Contains(t, r.wait().rest, fmt.Sprintf("rank %d of 2", number))
		assert.Zero(t, r.code)
	}
}

// TestBadGuests: a connection without a claim is closed or refused, and the world comes about.
func TestBadGuests(t *testing.T) {
	s := newStep(t, 2)
	all := []*rank{s.start("sum", 0, "ADOPT_TEST_SAY=waiting")}
	assert.Equal(t, "waiting", all[0].line())
	for _, body := range []string{"", "x", `{"v":9}`, `{"v":1,"rank":1,"size":2}`} { // the last one without a pidfd
		conn, err := net.Dial("unix", s.place(os.Getuid()))
		require.NoError(t, err)
		_, _ = conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...))
		text, _ := io.ReadAll(conn)
		assert.Contains(t, string(text), `"what":"refused"`, "%q", body)
		conn.Close()
	}
	conn, err := net.Dial("unix", s.place(os.Getuid()))
	require.NoError(t, err)
	_, _ = conn.Write([]byte{255, 255, 255, 255})
	text, _ := io.ReadAll(conn)
	assert.Empty(t, text)
	conn.Close()
	all = append(all, s.start("sum", 1))
	for number, r := range all {
		assert.Contains(t, r.wait().rest, fmt.Sprintf("rank %d of 2", number))
	}
}

// TestAnInheritedDescriptor: the daemon does not keep the descriptors that its starter had from
// the engine: the pipe ends with the rank.
func TestAnInheritedDescriptor(t *testing.T) {
	s := newStep(t, 2)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	s.files = []*os.File{w, w, w}
	first := s.start("wait", 0)
	s.files = nil
	w.Close()
	second := s.start("wait", 1)
	assert.Equal(t, "in 2", first.line())
	assert.Equal(t, "in 2", second.line())
	first.stdin.Close()
	_, err = io.ReadAll(r) // to its end, though the daemon lives
	require.NoError(t, err)
	assert.Len(t, s.daemons(), 1)
	second.stdin.Close()
	first.wait()
	second.wait()
}

// TestNobodyAnswers: a starter was stopped before it had started the daemon. The ranks report its
// pid, and do not wait for ever.
func TestNobodyAnswers(t *testing.T) {
	s := newStep(t, 2)
	ln, err := net.Listen("unix", s.place(os.Getuid()))
	require.NoError(t, err)
	defer ln.Close()
	r := s.start("sum", 1, "GOULFM_START_TIMEOUT=1s").wait()
	assert.Equal(t, 3, r.code)
	whom := fmt.Sprintf("process %d, which is or starts the daemon of this node and does not answer: is it stopped?", os.Getpid())
	assert.Equal(t, "goulfm: rank 1: still waits for "+whom+"\ngoulfm: init: the world did not start: after 2s rank 1 waits for "+whom+"\n", r.errs.String())
}

// TestBoundToOneCore: ranks that an engine has bound to a core each have two threads for Go code,
// unless the user has set the number, and their daemon may use all cores.
func TestBoundToOneCore(t *testing.T) {
	var mine unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &mine))
	if mine.Count() < 2 {
		t.Skip("there is one core")
	}
	s := newStep(t, 2)
	var all []*rank
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked
		var one unix.CPUSet
		for core := range mine.Count() + 1024 {
			if mine.IsSet(core) {
				one.Set(core)
				break
			}
		}
		if assert.NoError(t, unix.SchedSetaffinity(0, &one)) {
			all = []*rank{s.start("threads", 0), s.start("threads", 1, "GOMAXPROCS=1")}
		}
	}()
	<-done
	require.Len(t, all, 2)
	assert.Equal(t, "2", all[0].line())
	assert.Equal(t, "1", all[1].line())
	daemons := s.daemons()
	require.Len(t, daemons, 1)
	var its unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(daemons[0], &its))
	assert.GreaterOrEqual(t, its.Count(), mine.Count())
	for _, r := range all {
		r.stdin.Close()
	}
	for _, r := range all {
		assert.Zero(t, r.wait().code)
	}
}

// TestAForgedDaemon: the variable that makes a process the daemon was set by hand.
func TestAForgedDaemon(t *testing.T) {
	s := newStep(t, 2)
	for _, value := range []string{"x", "1", "77"} { // no number, no socket, nothing
		r := s.start("sum", 0, "GOULFM_DAEMON_FD="+value).wait()
		assert.Equal(t, 3, r.code)
		assert.Contains(t, r.errs.String(), "do not set it by hand")
		assert.Empty(t, r.rest)
	}
}
