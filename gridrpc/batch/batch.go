package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/server"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// Slurm is the batch system that there is.
const Slurm = "slurm"

// Program is what the job of each call runs.
type Program struct {
	Args    []string      // its path, from the root, and its arguments
	System  string        // the batch system; default Slurm
	Options []string      // of sbatch, such as --partition=short
	Dir     string        // folder that the nodes of the cluster and all servers of the service see
	Poll    time.Duration // from one question for the state of a job to the next one; default 1 s
}

// Files in the folder of a call.
const (
	scriptFile = "script"
	inputFile  = "input"
	outputFile = "output"
	errorFile  = "error"
	exitFile   = "exit"
	ownerFile  = "owner" // the latest attempt
	logFile    = "log"   // of the batch system
)

// Times of jobs.
const (
	pollDefault  = time.Second
	lateFiles    = 5 // polls for which the files of a job that has ended may not be seen yet
	keptFor      = 7 * 24 * time.Hour
	cancelWithin = 5 * time.Second
	textMax      = 4 << 10 // bytes of a job's standard error in an error
)

// Register offers a program as a service, from text to text. Without the commands of the batch
// system it is gridrpc.ErrUnsupported.
func Register(s *server.Server, name string, p Program, o ...server.ServiceOption) error {
	p, err := p.complete()
	if err == nil {
		err = p.sweep(time.Now())
	}
	if err != nil {
		return &gridrpc.Error{Op: "register", Service: name, Err: err}
	}
	return server.Register(s, name, func(ctx context.Context, c *server.Call, in *string) (*string, error) {
		j := &job{Program: p, system: slurm{p.Options}, call: c, name: "gridrpc-" + c.ID, dir: filepath.Join(p.Dir, c.ID)}
		out, err := j.run(ctx, *in)
		return &out, err
	}, o...)
}

// complete checks a program and fills in the defaults.
func (p Program) complete() (Program, error) {
	if p.System == "" {
		p.System = Slurm
	}
	if p.Poll == 0 {
		p.Poll = pollDefault
	}
	switch {
	case p.System != Slurm:
		return p, fmt.Errorf("batch system %q: only %s is known", p.System, Slurm)
	case len(p.Args) == 0 || !filepath.IsAbs(p.Args[0]):
		return p, fmt.Errorf("program %q: its path must begin at the root", p.Args)
	case !filepath.IsAbs(p.Dir):
		return p, fmt.Errorf("folder %q of jobs: its path must begin at the root", p.Dir)
	}
	for _, tool := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(tool); err != nil {
			return p, fmt.Errorf("%w: %w: install the commands of Slurm on the machine of the server", gridrpc.ErrUnsupported, err)
		}
	}
	return p, os.MkdirAll(p.Dir, 0o700)
}

// sweep deletes old folders of calls.
func (p Program) sweep(now time.Time) error {
	all, err := os.ReadDir(p.Dir)
	for _, e := range all {
		if info, gone := e.Info(); gone == nil && now.Sub(info.ModTime()) > keptFor {
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.Dir, e.Name())))
		}
	}
	return err
}

// job is one attempt of a call.
type job struct {
	Program
	system slurm
	call   *server.Call
	name   string
	dir    string
}

func (j *job) path(file string) string { return filepath.Join(j.dir, file) }

// run returns the output of the job of this call, which an earlier attempt may have submitted.
func (j *job) run(ctx context.Context, in string) (out string, err error) {
	if err := j.prepare(ctx, in); err != nil {
		return "", err
	}
	defer func() {
		if ctx.Err() != nil {
			j.abandon()
		}
	}()
	submitted := false // by this attempt
	for missing := 0; ; {
		if out, done, err := j.outcome(); done {
			return out, err
		}
		state, err := j.system.state(ctx, j.name)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.Is(err, errAway):
			j.call.Progress(0, 1, err.Error())
		case err != nil:
			return "", err
		case state != "":
			missing = 0
			j.call.Progress(0, 1, "job "+j.name+" is "+state)
		case missing < lateFiles && (submitted || missing > 0 || j.was()):
			missing++ // its exit may not be seen yet
		case submitted:
			return "", fmt.Errorf("job %s has ended without an exit code: was it cancelled, or out of time? %s", j.name, j.text(logFile))
		default:
			if err := j.system.submit(ctx, j.name, j.dir); err != nil && !errors.Is(err, errAway) {
				return "", err
			} else if err == nil {
				submitted, missing = true, 0
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(j.Poll):
		}
	}
}

// was reports whether an earlier attempt may have submitted a job.
func (j *job) was() bool { return j.call.Attempt > 1 }

// prepare makes the folder of the call, and notes that this attempt owns the job.
func (j *job) prepare(ctx context.Context, in string) error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	words := make([]string, len(j.Args))
	for i, w := range j.Args {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	script := fmt.Sprintf("#!/bin/sh\n%s <%s >%s 2>%s\necho $? >%s.part\nmv %s.part %s\n",
		strings.Join(words, " "), inputFile, outputFile, errorFile, exitFile, exitFile, exitFile)
	if _, err := os.Stat(j.path(scriptFile)); errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(j.write(ctx, inputFile, in), j.write(ctx, scriptFile, script))
		if err != nil {
			return err
		}
	}
	return j.write(ctx, ownerFile, strconv.Itoa(j.call.Attempt))
}

// write writes a file whole or not at all.
func (j *job) write(ctx context.Context, file, text string) error {
	return checkpoint.Dir(j.dir).Put(ctx, file, int64(len(text)), strings.NewReader(text))
}

// outcome returns how the job has ended, if it has.
func (j *job) outcome() (out string, done bool, err error) {
	code, err := os.ReadFile(j.path(exitFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if text := strings.TrimSpace(string(code)); err == nil && text != "0" {
		err = fmt.Errorf("job %s has ended with exit code %s: %s", j.name, text, j.text(errorFile))
	}
	if err != nil {
		return "", true, err
	}
	data, err := os.ReadFile(j.path(outputFile))
	return string(data), true, err
}

// text returns the end of a file of the job.
func (j *job) text(file string) string {
	data, _ := os.ReadFile(j.path(file))
	return strings.TrimSpace(string(data[max(0, len(data)-textMax):]))
}

// abandon cancels the job, unless a later attempt has taken it over.
func (j *job) abandon() {
	owner, err := os.ReadFile(j.path(ownerFile))
	if err != nil || string(owner) != strconv.Itoa(j.call.Attempt) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cancelWithin)
	defer cancel()
	if err := j.system.cancel(ctx, j.name); err != nil {
		j.call.Log.Printf("job %s is not cancelled: %v", j.name, err)
	}
}
