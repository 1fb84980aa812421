package long

import "syscall"

// attributes lets the launcher end its job when this process dies, even by SIGKILL. A group of its
// own keeps an interrupt at the terminal from the launcher: the driver passes it on.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
