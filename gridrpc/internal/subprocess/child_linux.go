package subprocess

import (
	"os/exec"
	"syscall"
)

// EndWithParent makes the kernel kill the process of cmd when this one has ended for any reason.
// Call it before Start. Children of the new process are not killed. The kernel binds the request to
// the thread that starts the process. That thread lives as long as this process: Go ends no thread
// without a goroutine locked to it.
func EndWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// OwnGroup makes the process of cmd the leader of a new process group. Call it before Start.
// Signals of a terminal to the group of this process do not reach the new process.
func OwnGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}
