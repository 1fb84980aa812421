package subprocess

import (
	"os/exec"
	"syscall"
)

// EndWithParent has a process that is about to be started killed when this one has ended, however
// it ends. What that process has started itself ends with it only if it sees to that. The wish is
// bound to the thread that starts it, which lives as long as the process: Go ends no thread whose
// goroutine is not locked to it.
func EndWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// OwnGroup has a process that is about to be started lead a process group: signals of a terminal,
// which are for the group of this process, do not reach it.
func OwnGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}
