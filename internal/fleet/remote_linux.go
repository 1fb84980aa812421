package fleet

import (
	"os/exec"
	"strings"
	"syscall"
)

// Remote starts daemons on other hosts, with ssh or what does the same.
type Remote struct {
	Goulfm string   // there
	Rsh    []string // the command and its options; empty: ssh, which asks for nothing
	Users  []string // by node, to log in as; "": ssh's choice
}

// Start implements Starter.
func (s Remote) Start(node int, host string, bootstrap []byte, failed func(error)) (end func(), err error) {
	rsh := s.Rsh
	if len(rsh) == 0 {
		rsh = []string{"ssh", "-o", "BatchMode=yes"}
	}
	if user := s.Users[node]; user != "" {
		host = user + "@" + host
	}
	args := append(append([]string{}, rsh[1:]...), host, quote(s.Goulfm)+" daemon")
	cmd := exec.Command(rsh[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return startDaemon(cmd, bootstrap, failed)
}

// quote protects a path from the shell of the other host.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
