//go:build !linux

package long

import "syscall"

// attributes starts the launcher in a group of its own. On this system a job outlives a driver that
// is killed by SIGKILL, until the end of its piece.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
