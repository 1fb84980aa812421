package daemon

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/pidfd"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A ward is a process that the daemon has adopted: a child of another process, which reports its
// status once it is reaped.
type ward struct {
	pid   int
	line  net.Conn // its end of the lifeline
	ended *bufio.Reader
}

// engine starts a process as a job engine does. One that does not reap keeps it as a zombie.
func engine(t *testing.T, reaps bool) (pid int, said *bufio.Reader) {
	t.Helper()
	script := `sleep 1000 & echo $!; wait $!; echo $?`
	if !reaps {
		script = `sleep 1000 & echo $!; exec sleep 1000`
	}
	cmd := exec.Command("sh", "-c", script)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL); out.Close() })
	said = bufio.NewReader(out)
	line, err := said.ReadString('\n')
	require.NoError(t, err)
	pid, err = strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	for !reaps { // the shell still might
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
		require.NoError(t, err)
		if string(name) == "sleep\n" {
			break
		}
		runtime.Gosched()
	}
	return pid, said
}

// adopt makes a daemon with n adopted processes, and ends all with the test.
func adopt(t *testing.T, r Host, n int, reaps bool) (*Daemon, []ward) {
	t.Helper()
	d, err := New(r, 8, someMemory(t))
	require.NoError(t, err)
	require.True(t, d.Expect(n))
	require.NoError(t, d.Begin(func() error { return nil }))
	t.Cleanup(func() { d.KillAll(); <-d.Ended(); d.EndLeftovers(); d.Drain(); d.Close() })
	var wards []ward
	for number := range n {
		pid, said := engine(t, reaps)
		pidfd, err := unix.PidfdOpen(pid, 0)
		require.NoError(t, err)
		mine, theirs, err := openLifeline()
		require.NoError(t, err)
		line, err := net.FileConn(theirs)
		theirs.Close()
		require.NoError(t, err)
		t.Cleanup(func() { line.Close() })
		require.NoError(t, d.Adopt(Adoption{Number: number, Pid: pid, Pidfd: pidfd, Line: mine}))
		d.Unexpect(1)
		wards = append(wards, ward{pid, line, said})
	}
	return d, wards
}

// code is the status of a ward as the shell that reaps it reports.
func (w ward) code(t *testing.T) string {
	t.Helper()
	line, err := w.ended.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func signalled(sig syscall.Signal) string { return fmt.Sprint(128 + int(sig)) }

// hasExitStatus reports whether this kernel gives the status of another process's child.
func hasExitStatus(t *testing.T) bool {
	pid, said := engine(t, true)
	fd, err := unix.PidfdOpen(pid, 0)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	_, err = said.ReadString('\n')
	require.NoError(t, err)
	h, err := pidfd.New(fd)
	require.NoError(t, err)
	defer h.Close()
	_, known := h.Status()
	return known
}

// TestAnAdoptedProcess: its messages are passed on before its end, and its end is found although it
// is no child of the daemon.
func TestAnAdoptedProcess(t *testing.T) {
	r := &record{}
	how := "0 reaped: ended, and nobody can tell how"
	if hasExitStatus(t) {
		how = "0 reaped: killed (SIGKILL)"
	}
	d, wards := adopt(t, r, 1, true)
	said, err := rankproto.Encode(1, rankproto.Joined{})
	require.NoError(t, err)
	_, err = wards[0].line.Write(said)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(wards[0].pid, syscall.SIGKILL))
	end(d)
	assert.ElementsMatch(t, []string{"0 said rankproto.Joined", "0 found by reaping, left false", how, "0 heard"}, r.events)
	assert.Equal(t, "0 heard", r.events[len(r.events)-1])
	assert.True(t, d.node.Ended(0))
}

// TestAnUnreapedProcess: its parent does not care for its end. That is found all the same, and
// how it has ended stays unknown.
func TestAnUnreapedProcess(t *testing.T) {
	r := &record{heard: make(chan int, 1)}
	d, wards := adopt(t, r, 1, false)
	require.NoError(t, syscall.Kill(wards[0].pid, syscall.SIGKILL))
	<-r.heard
	<-d.Ended()
	assert.Equal(t, []string{"0 found by reaping, left false", "0 reaped: ended, and nobody can tell how", "0 heard"}, r.events)
}

// TestSignalsToAdopted reach those that are meant, and none of their process group: all tasks of
// a Slurm step on a node are one.
func TestSignalsToAdopted(t *testing.T) {
	r := &record{heard: make(chan int, 3)}
	d, wards := adopt(t, r, 3, true)
	d.Signal(1, syscall.SIGTERM)
	assert.Equal(t, 1, <-r.heard)
	assert.False(t, d.Over())
	d.SignalAll(syscall.SIGUSR1)
	<-r.heard
	<-r.heard
	<-d.Ended()
	d.Signal(1, syscall.SIGTERM) // it has ended, and its number may be another's
	for i, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGUSR1} {
		assert.Equal(t, signalled(sig), wards[i].code(t), "and the shell, of the same group, lives to tell it")
	}
}

// TestKillAllEndsAdopted ends those that are there.
func TestKillAllEndsAdopted(t *testing.T) {
	r := &record{}
	d, wards := adopt(t, r, 2, true)
	d.KillAll()
	<-d.Ended()
	for _, w := range wards {
		assert.Equal(t, signalled(syscall.SIGKILL), w.code(t))
	}
	assert.False(t, d.Expect(1), "it is over")
}

// TestTheReaperSleeps: where all processes are adopted there is no child to wait for, and the
// thread that would wait for one sleeps until there is one, or nothing left.
//
//	reap: waitid: no child      awaitStart: two are live: try again, without end
func TestTheReaperSleeps(t *testing.T) {
	for _, next := range []string{"the adopted one ends", "one is expected and started"} {
		synctest.Test(t, func(t *testing.T) {
			d := newDaemon(&record{})
			d.live, d.wards = 1, 1
			returned := false
			go func() { d.awaitStart(); returned = true }()
			synctest.Wait()
			assert.False(t, returned)
			if next == "the adopted one ends" {
				d.release(&process{handle: &pidfd.Handle{}})
			} else {
				d.Expect(1)
				synctest.Wait()
				assert.False(t, returned, "it is not started yet")
				d.mu.Lock()
				d.live++
				d.mu.Unlock()
				d.Unexpect(1)
			}
			synctest.Wait()
			assert.True(t, returned, next)
		})
	}
}

// TestBornAndAdopted: a daemon that has adopted a process starts one, too, and reaps it while
// the other one lives.
func TestBornAndAdopted(t *testing.T) {
	r := &record{heard: make(chan int, 2)}
	d, wards := adopt(t, r, 1, true)
	require.True(t, d.Expect(1))
	started := make(chan error)
	p, out := shell(t, 1, "echo born; exit 3")
	d.OnStarter(func() { err := d.Start(p); d.Unexpect(1); started <- err })
	require.NoError(t, <-started)
	assert.Equal(t, 1, <-r.heard)
	<-out.end
	assert.False(t, d.Over())
	require.NoError(t, syscall.Kill(wards[0].pid, syscall.SIGKILL))
	assert.Equal(t, 0, <-r.heard)
	<-d.Ended()
	assert.Contains(t, r.events, "1 reaped: exit code 3")
}

// TestAPidfdThatIsNone is refused, and its lifeline closed.
func TestAPidfdThatIsNone(t *testing.T) {
	d, err := New(&record{}, 2, someMemory(t))
	require.NoError(t, err)
	defer d.Close()
	mine, theirs, err := openLifeline()
	require.NoError(t, err)
	defer theirs.Close()
	assert.Error(t, d.Adopt(Adoption{Pidfd: 1 << 20, Line: mine}))
	_, err = mine.Write([]byte{0})
	assert.ErrorIs(t, err, net.ErrClosed)
}

// A finder is notified of ends at once.
type finder struct {
	record
	found chan job.Evidence
}

func (f *finder) Found(_ int, by job.Evidence, _ bool, _ int64) { f.found <- by }

// TestATombstoneOfAnAdopted reports its death before the kernel has freed its memory, and its
// remains give way to the living: its own threads, and no others of its process group.
func TestATombstoneOfAnAdopted(t *testing.T) {
	if ownNice() == nicest {
		t.Skip("nobody can be nicer than this process")
	}
	f := &finder{found: make(chan job.Evidence, 2)}
	d, wards := adopt(t, f, 2, true)
	d.Watch(0, 2)
	word := d.node.Tombstone(0)
	segment.Store32(word, segment.TombstoneDied) // as the kernel does; the process itself still runs
	park.Futex{}.Wake(word)
	assert.Equal(t, job.ByTombstone, <-f.found)
	mine := 20 - ownNice()
	assert.Less(t, priority(t, wards[0].pid), mine)
	assert.Equal(t, mine, priority(t, wards[1].pid))
	group, err := syscall.Getpgid(wards[0].pid)
	require.NoError(t, err)
	same, err := syscall.Getpgid(wards[1].pid)
	require.NoError(t, err)
	assert.Equal(t, group, same)
}

func priority(t *testing.T, pid int) int {
	t.Helper()
	p, err := unix.Getpriority(unix.PRIO_PROCESS, pid) // 20 - nice
	require.NoError(t, err)
	return p
}
