package daemon

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/goulfm/goulfm/internal/protocol/job"
)

// ErrOver is the error of calls after the last process has ended, or the job was ended.
var ErrOver = errors.New("the job has ended")

// Build runs a command in a directory, while processes run, and returns its output. The reaper
// takes the status of every child:
//
//	build: go build, exits      reaper: a child has ended: takes its status
//	wait for it: no such child
//
// Build therefore makes the command known to the reaper before the command can end, and receives
// the status from the reaper. Call Build on the thread of OnStarter.
func (d *Daemon) Build(dir string, args []string) ([]byte, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	null, err := NoInput()
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
	err = d.forkBuild(path, args, &syscall.ProcAttr{
		Dir: dir, Env: os.Environ(), Files: []uintptr{null.Fd(), w.Fd(), w.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}, ended)
	w.Close()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if status := <-ended; status != 0 {
		return text, fmt.Errorf("%s", statusOf(status))
	}
	return text, err
}

// forkBuild starts a command. The reaper sends its status to ended.
func (d *Daemon) forkBuild(path string, args []string, attr *syscall.ProcAttr, ended chan syscall.WaitStatus) error {
	d.forking.Lock()
	defer d.forking.Unlock()
	if d.isEnding() {
		return ErrOver
	}
	pid, err := syscall.ForkExec(path, args, attr)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.builds[pid] = ended
	d.forked.Broadcast()
	if d.isHalted { // meanwhile; it cannot be over, for the reaper needs forking
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	return nil
}

// isEnding reports whether KillAll was called, or all processes have ended.
func (d *Daemon) isEnding() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isHalted || d.over
}

// statusOf converts the kernel's status of an ended process into that of the rules.
func statusOf(s syscall.WaitStatus) job.Status {
	if s.Signaled() {
		return job.Status{Signal: int(s.Signal()), Name: s.Signal().String()}
	}
	return job.Status{Code: s.ExitStatus()}
}
