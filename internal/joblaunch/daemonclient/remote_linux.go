package daemonclient

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Remote starts daemons on other hosts, with ssh or an equivalent command.
type Remote struct {
	Goulfm string   // there
	Rsh    []string // the command and its options; empty: ssh
	Users  []string // by node, to log in as; "": ssh's choice
}

// ssh is called without questions and without a terminal, and notices a lost host.
var ssh = []string{"ssh", "-x", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"}

// Start implements Starter.
func (s Remote) Start(node int, host string, bootstrap []byte, failed func(error)) (end func(isLost bool), err error) {
	args := s.command(s.Users[node], host, "daemon")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return startDaemon(cmd, bootstrap, failed)
}

// command returns the command line that runs a command of goulfm on a host.
func (s Remote) command(user, host, what string) []string {
	rsh := s.Rsh
	if len(rsh) == 0 {
		rsh = ssh
	}
	if user != "" {
		host = user + "@" + host
	}
	return append(slices.Clone(rsh), host, quote(s.Goulfm)+" "+what)
}

// Version asks a host, as the first of Users, for the version of goulfm there. An error is one
// line, with a remedy if there is one.
func (s Remote) Version(ctx context.Context, host string) (string, error) {
	args := s.command(s.Users[0], host, "version")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = endFor
	var out bytes.Buffer
	errs := &tail{}
	cmd.Stdout, cmd.Stderr = &out, errs
	err := cmd.Run()
	if text := errs.String(); err != nil && text != "" {
		err = advise(text)
	}
	return strings.TrimSpace(out.String()), err
}

// quote protects a path from the shell of the other host.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
