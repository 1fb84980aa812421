package park

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// TestLongCallBesideTheCollector: goroutines in long calls do not hold up the garbage collector,
// and their results are right.
func TestLongCallBesideTheCollector(t *testing.T) {
	const callers, calls = 8, 50
	done := make(chan bool)
	for range callers {
		go func() {
			defer func() { done <- true }()
			for range calls {
				word, ts := new(uint32), unix.NsecToTimespec(1e6)
				_, errno := LongCall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, 1, uintptr(unsafe.Pointer(&ts)), 0, 0)
				assert.Equal(t, unix.EAGAIN, errno, "the word differs")
				_, errno = LongCall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, 0, uintptr(unsafe.Pointer(&ts)), 0, 0)
				assert.Contains(t, []error{unix.ETIMEDOUT, unix.EINTR}, error(errno))
			}
		}()
	}
	for ended := 0; ended < callers; {
		select {
		case <-done:
			ended++
		default:
			runtime.GC()
		}
	}
}
