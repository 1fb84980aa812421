package daemonclient

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Local starts daemons on this machine: several nodes of one machine, which share nothing but it.
type Local struct {
	Goulfm string // program to execute
}

// Start implements Starter.
func (s Local) Start(_ int, _ string, bootstrap []byte, failed func(error)) (end func(isLost bool), err error) {
	cmd := exec.Command(s.Goulfm, "daemon")
	// the terminal's signals are the launcher's
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return startDaemon(cmd, bootstrap, failed)
}

// startDaemon runs a command that is a daemon, or reaches one.
func startDaemon(cmd *exec.Cmd, bootstrap []byte, failed func(error)) (end func(isLost bool), err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	errs := &tail{}
	cmd.Stdin, cmd.Stderr = in, errs
	// a daemon that cannot be reached may hold its standard error after the command that led there
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		out.Close()
		return nil, err
	}
	if _, err = out.Write(bootstrap); err != nil { // less than a pipe takes
		_ = cmd.Process.Kill()
	}
	ended := make(chan struct{})
	go func() {
		err := cmd.Wait()
		if text := errs.String(); text != "" {
			err = advise(text)
		}
		if err != nil {
			failed(err)
		}
		close(ended)
	}()
	return func(isLost bool) {
		out.Close()
		if isLost { // a stopped or unreachable daemon does not learn that its connection has ended
			_ = cmd.Process.Kill()
		}
		late := time.AfterFunc(endFor, func() { _ = cmd.Process.Kill() })
		<-ended
		late.Stop()
	}, err
}

// endFor is how long a daemon may take to end once its connection has. Tests change it.
var endFor = 3 * time.Second

// A tail keeps the last part of a daemon's standard error.
type tail struct{ buf bytes.Buffer }

const tailMax = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.buf.Write(b)
	if over := t.buf.Len() - tailMax; over > 0 {
		t.buf.Next(over)
	}
	return len(b), nil
}

// String is asked for when all is written.
func (t *tail) String() string { return strings.TrimSpace(t.buf.String()) }
