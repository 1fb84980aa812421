package launch

import (
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"golang.org/x/sys/unix"
)

// executeFile returns the program in f, which has no name in the file system any more. The process
// that executes the program finds it under the process's own number. Where /proc belongs to another
// PID namespace, the launcher's number is another process there, and only "self" is right.
func executeFile(name string, f *os.File) (*program, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, daemon.ClearOfProcesses)
	if err != nil {
		return nil, fail(ExitFailed, "keep %s: %w", name, err)
	}
	return &program{path: fmt.Sprintf("/proc/self/fd/%d", fd), name: name, file: os.NewFile(uintptr(fd), name)}, nil
}
