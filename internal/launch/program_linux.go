package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// clearOfRanks is above all descriptors that a rank is given: a process that is started has
// the launcher's others, too, until it is the program.
const clearOfRanks = 64

// executeFile returns the program in f, whose name is gone. It is found by the process that
// executes it, under its own number: where /proc is that of another PID namespace the
// launcher's number is another process there, and only "self" is right.
func executeFile(name string, f *os.File) (*program, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, clearOfRanks)
	if err != nil {
		return nil, fail(ExitFailed, "keep %s: %w", name, err)
	}
	return &program{path: fmt.Sprintf("/proc/self/fd/%d", fd), name: name, file: os.NewFile(uintptr(fd), name)}, nil
}

// runBuild is the runner while there are ranks. The reaper takes the status of every child:
//
//	build: go build, exits      reaper: a child has ended: takes its status
//	wait for it: no such child
//
// so the command is known to it before it can end, and gets its status from there.
func (j *job) runBuild(dir string, args []string) ([]byte, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ended := make(chan syscall.WaitStatus, 1)
	err = j.forkBuild(path, args, &syscall.ProcAttr{
		Dir: dir, Env: os.Environ(), Files: []uintptr{null.Fd(), w.Fd(), w.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}, ended)
	w.Close()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if status := <-ended; status != 0 {
		return text, fmt.Errorf("%s", describe(status))
	}
	return text, err
}

// forkBuild starts a command whose status the reaper sends to ended.
func (j *job) forkBuild(path string, args []string, attr *syscall.ProcAttr, ended chan syscall.WaitStatus) error {
	j.forking.Lock()
	defer j.forking.Unlock()
	if j.isEnding() {
		return errOver
	}
	pid, err := syscall.ForkExec(path, args, attr)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.builds[pid] = ended
	if j.ending { // meanwhile; it cannot be over, for the reaper needs forking
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	return nil
}

// isEnding says whether the job was told to stop, or is over.
func (j *job) isEnding() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ending || j.over
}
