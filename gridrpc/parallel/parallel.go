package parallel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/subprocess"
	"github.com/goulfm/goulfm/gridrpc/parallel/rank"
	"github.com/goulfm/goulfm/gridrpc/server"
)

// EnvGoulfm names the launcher in the environment of a server.
const EnvGoulfm = "GRIDRPC_GOULFM"

// Job describes the job that a call starts.
type Job struct {
	Ranks   int      // default: as many as Hosts take; without Hosts one for each core
	Hosts   string   // the nodes, as in goulfm run --host: "a:4,b:4", or "3" for three on this machine; default: this machine
	PerNode int      // ranks of each host in Hosts without a number; default 1
	Program string   // of the ranks; default: this program, where rank.Is is true
	Args    []string // of Program
	Flags   []string // further flags of goulfm run: "--restart", "2", or "--spares", "1"
	Goulfm  string   // the launcher; default: the path in GRIDRPC_GOULFM, or goulfm in PATH
}

// flags returns the flags of goulfm run.
func (j Job) flags() (list []string) {
	if j.Ranks > 0 || j.Hosts == "" {
		list = append(list, "-n", strconv.Itoa(cmp.Or(j.Ranks, runtime.NumCPU())))
	}
	if j.Hosts != "" {
		list = append(list, "--host", j.Hosts)
	}
	if j.PerNode > 0 {
		list = append(list, "--ppn", strconv.Itoa(j.PerNode))
	}
	for _, name := range []string{rank.EnvArgument, rank.EnvResult, rank.EnvVersions} { // for ranks on other machines
		list = append(list, "-x", name)
	}
	return append(list, j.Flags...)
}

// Register offers a job as a service. rank.Argument reads the argument, and rank.Return sets the
// result, as JSON.
func Register[Req, Rep any](s *server.Server, name string, j Job, o ...server.ServiceOption) error {
	return server.Register(s, name, func(ctx context.Context, c *server.Call, in *Req) (*Rep, error) {
		out := new(Rep)
		if err := Run(ctx, c, j, in, out); err != nil {
			return nil, err
		}
		return out, nil
	}, o...)
}

// stopWithin bounds the time that a job may take to end after its call was given up.
const stopWithin = 3 * time.Second

// Run runs a job within a body, and reads its result into *out. When ctx is done the job ends.
func Run(ctx context.Context, c *server.Call, j Job, in, out any) error {
	dir, err := c.Dir()
	if err != nil {
		return err
	}
	p, err := prepare(dir, in)
	if err != nil {
		return err
	}
	cmd, err := j.command(ctx, c, p)
	if err != nil {
		return err
	}
	eventLog := &lines{tell: func(line string) {
		c.Log.Print(line)
		if strings.HasPrefix(line, eventLogPrefix) {
			c.Progress(0, 0, line)
		}
	}}
	cmd.Stdout, cmd.Stderr = &lines{tell: func(line string) { c.Log.Print(line) }}, eventLog
	k := newKeeper(c, dir)
	if err := k.recall(); err != nil {
		return err
	}
	switch notStarted, ended := subprocess.RunBeside(ctx, cmd, k.watch); {
	case notStarted != nil:
		return fmt.Errorf("parallel: %w", notStarted)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case ended != nil:
		return fmt.Errorf("parallel: goulfm run: %w: %s", ended, eventLog.last)
	}
	return p.result(out)
}

// eventLogPrefix begins the lines of the launcher itself.
const eventLogPrefix = "goulfm: "

// paths are the files through which a job and its server exchange data.
type paths struct{ argument, answer, versions string }

// prepare writes the argument.
func prepare(dir string, in any) (paths, error) {
	p := paths{filepath.Join(dir, "argument.json"), filepath.Join(dir, "result.json"), filepath.Join(dir, versionsDir)}
	data, err := json.Marshal(in)
	if err != nil {
		return p, fmt.Errorf("%w: %w", gridrpc.ErrCodec, err)
	}
	return p, errors.Join(os.WriteFile(p.argument, data, 0o600), os.MkdirAll(p.versions, 0o700))
}

// result reads the result that a rank has returned.
func (p paths) result(out any) error {
	data, err := os.ReadFile(p.answer)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("parallel: the job has ended, and none of its ranks has called rank.Return")
	}
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return fmt.Errorf("%w: result of the job: %w", gridrpc.ErrCodec, err)
	}
	return nil
}

// command returns the command of the launcher, in a process group of its own. It ends with this
// process.
func (j Job) command(ctx context.Context, c *server.Call, p paths) (*exec.Cmd, error) {
	program := j.Program
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		program = self
	}
	environ, err := c.Environ()
	if err != nil {
		return nil, err
	}
	args := append(append(append([]string{"run"}, j.flags()...), program), j.Args...)
	cmd := exec.CommandContext(ctx, cmp.Or(j.Goulfm, os.Getenv(EnvGoulfm), "goulfm"), args...)
	if cmd.Err != nil {
		return nil, fmt.Errorf("parallel: the launcher: %w: set %s, or Job.Goulfm", cmd.Err, EnvGoulfm)
	}
	subprocess.EndWithParent(cmd)
	subprocess.OwnGroup(cmd)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopWithin
	cmd.Env = append(environ, rank.EnvArgument+"="+p.argument, rank.EnvResult+"="+p.answer, rank.EnvVersions+"="+p.versions)
	return cmd, nil
}

// lineMax bounds a line of a job's output, in bytes.
const lineMax = 4 << 10

// lines passes on the bytes that are written to it, line by line. A line above lineMax is cut.
type lines struct {
	tell func(line string)
	part []byte
	last string
}

// Write never fails.
func (l *lines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), lineMax-len(l.part))]...)
		if rest = after; whole {
			l.last, l.part = string(l.part), l.part[:0]
			l.tell(l.last)
		}
	}
	return len(p), nil
}
