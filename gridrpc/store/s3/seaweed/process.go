package seaweed

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/subprocess"
)

// process is a process of the service. A test can kill the process, and restart the process with
// its data on disk.
type process struct {
	name  string
	dir   string // its own, where its log is, too
	args  []string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// start starts the process, which ends with this process in any case.
func (p *process) start(t testing.TB, weed string) {
	require.NoError(t, os.MkdirAll(p.dir, 0o700))
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	p.cmd = exec.Command(weed, append([]string{"-logtostderr"}, p.args...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = p.dir, log, log
	p.cmd.Env = slices.Concat(os.Environ(), []string{"HOME=" + p.dir, "TMPDIR=" + p.dir}) // no settings of this machine, and no traces here
	subprocess.EndWithParent(p.cmd)
	require.NoError(t, p.cmd.Start())
	p.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		defer close(ended)
		_ = cmd.Wait() // an error: the process was killed
	}(p.cmd, p.ended)
}

// kill kills the process, and returns after its end. A kill after the end has no effect.
func (p *process) kill() {
	if p.ended != nil {
		_ = p.cmd.Process.Kill() // an error: the process has ended
		<-p.ended
	}
}

func (p *process) log() string { return filepath.Join(p.dir, "log") }

// said returns the last lines of the log.
func (p *process) said(lines int) string {
	text, _ := os.ReadFile(p.log()) // without a log there are no lines
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
