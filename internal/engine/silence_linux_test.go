package engine

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/shm/publish"
)

// twoNodes is a link whose last process is on another node.
type twoNodes struct {
	gathering
	near *transport.Port
}

func (l *twoNodes) Near() *transport.Port { return l.near }
func (l *twoNodes) Away() []bool          { return []bool{false, false, true} }

// refuseBarriers has the kernel refuse membarrier to the calling thread, as a container's filter of
// system calls does. The caller has locked its thread, which ends with it.
func refuseBarriers() error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_MEMBARRIER, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// TestDeathWithoutMembarrier: the kernel refuses membarrier, so that the stores of a dead process
// of this node end when it is reaped. A death on another node takes effect at once: that process
// stores nothing here, and no process here reaps it.
func TestDeathWithoutMembarrier(t *testing.T) {
	world := inproc.New(3)
	end := world.DirectPort(0)
	link := &twoNodes{gathering: gathering{Link: end.Link}, near: end.Link.(*transport.Port)}
	p := New(transport.End{Node: end.Node, Link: link}, Config{SpinPolls: 1, Nodes: []int{0, 0, 1}, Tick: time.Hour})
	defer p.Close()
	w := NewWatch(p.World(), p.World(), false)
	defer w.Close(func() {})

	// learn has a thread without membarrier read of a death, with the lock held meanwhile.
	learn := func(dead int) (read chan struct{}) {
		read = make(chan struct{})
		go func() {
			defer close(read)
			runtime.LockOSThread() // and never unlocks: the thread ends with the goroutine
			if !assert.NoError(t, refuseBarriers()) || !assert.False(t, publish.Silence()) {
				return
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			world.DepartUnended(dead, true)
			p.progress()
			assert.True(t, p.isDead(dead))
			assert.Equal(t, dead == 1, p.node.HasEnded(dead), "process %d was reaped", dead)
		}()
		return read
	}
	select {
	case <-learn(2):
	case <-time.After(time.Minute):
		world.End(2)
		t.Error("a death on another node waits until its process is reaped")
	}
	read := learn(1)
	for range 1000 {
		runtime.Gosched()
	}
	world.End(1)
	<-read
}
