package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/batch"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/sandbox"
	"github.com/goulfm/goulfm/gridrpc/server"
)

// sandboxed are the programs that servers run for each call: in sandboxes, or as jobs of a batch
// system.
type sandboxed struct {
	list  []service
	every time.Duration

	batch   string // the batch system; "": none
	options string // of its jobs
	jobs    int    // at a time, of a server
	jobDir  string
}

// jobsDefault is the number of simultaneous jobs of a server.
const jobsDefault = 64

// service is a program with the name of its service.
type service struct {
	name string
	args []string
}

func (s *sandboxed) register(f *flag.FlagSet) {
	f.StringVar(&s.batch, "batch", "", "run each call of --program as a job of this batch `SYSTEM`: slurm (go doc ./batch)")
	f.StringVar(&s.options, "batch-options", "", "`OPTIONS` of sbatch, such as '--partition=short --time=10'")
	f.StringVar(&s.jobDir, "batch-dir", "", "`FOLDER` that the servers and the cluster see; by default jobs in that of the platform")
	f.IntVar(&s.jobs, "batch-jobs", jobsDefault, "`N` jobs of a server at a time")
	f.DurationVar(&s.every, "image-every", 10*time.Second, "take an image of a program in a sandbox this long after the one before")
	f.Func("program", "`SERVICE=PROGRAM` ARGUMENT...: a service, and the program that it runs in a sandbox, or with --batch as a job; may be repeated", func(text string) error {
		one, err := parseProgram(text)
		s.list = append(s.list, one)
		return err
	})
}

// parse reads the arguments of a command: a PROGRAM, or services by --program.
func (s *sandboxed) parse(f *flag.FlagSet, args []string) error {
	err := parse(f, args, 0, anyNumber)
	if err == nil && (f.NArg() > 0) == (len(s.list) > 0) {
		err = mistake{f.Name(), "want a PROGRAM or --program"}
	}
	if err == nil && s.batch != "" && (s.batch != batch.Slurm || len(s.list) == 0) {
		err = mistake{f.Name(), fmt.Sprintf("--batch %s: want %s, and --program", s.batch, batch.Slurm)}
	}
	if err == nil && s.jobs < 1 {
		err = mistake{f.Name(), fmt.Sprintf("--batch-jobs %d: want 1 at least", s.jobs)}
	}
	return err
}

// parseProgram reads SERVICE=PROGRAM ARGUMENT..., separated by blanks.
func parseProgram(text string) (service, error) {
	name, line, _ := strings.Cut(text, "=")
	args := strings.Fields(line)
	if name == "" || len(args) == 0 {
		return service{}, errors.New("want SERVICE=PROGRAM ARGUMENT...")
	}
	return service{name, args}, nil
}

// server returns the command of a server with these services. Programs are searched in the folder
// of this command and in PATH.
func (s *sandboxed) server() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := []string{self, "serve", "--image-every", s.every.String()}
	if s.jobDir != "" {
		s.jobDir, err = filepath.Abs(s.jobDir)
	}
	if s.batch != "" {
		command = append(command, "--batch", s.batch, "--batch-options", s.options, "--batch-dir", s.jobDir, "--batch-jobs", strconv.Itoa(s.jobs))
	}
	for _, one := range s.list {
		path, missing := exec.LookPath(one.args[0])
		if missing == nil {
			path, missing = filepath.Abs(path)
		}
		if missing == nil { // the sandbox shows the file, not a link to it
			path, missing = filepath.EvalSymlinks(path)
		}
		err = errors.Join(err, missing)
		command = append(command, "--program", one.name+"="+strings.Join(append([]string{path}, one.args[1:]...), " "))
	}
	return command, err
}

// become replaces this process by a program, so that a signal to the process reaches the server.
func become(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("%w: name the program of the server, built for this machine", err)
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, command, os.Environ()))
}

// serveProcess is a server of such services that "up" starts, or a server on a machine that does
// not see the platform's folder.
func serveProcess(ctx context.Context, args []string) error {
	f := flags("serve")
	var programs sandboxed
	programs.register(f)
	join, name := joinFlags(f)
	if err := programs.parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 || *join != "" || os.Getenv(discovery.EnvTether) == "" {
		dir, own, err := gridrpc.Enter(ctx, gridrpc.Membership{Token: *join, Name: *name}, true)
		if err != nil {
			return err
		}
		if err := os.Setenv(gridrpc.EnvIdentity, dir); err != nil {
			return err
		}
		fmt.Printf("%s is process %d, with the identity in %s\n", own, os.Getpid(), dir)
	}
	if f.NArg() > 0 {
		return become(f.Args())
	}
	server.Main(programs.offer)
	return nil
}

// offer registers the services at a server.
func (s *sandboxed) offer(to *server.Server) (err error) {
	if s.batch != "" {
		to.Places = s.jobs
	}
	for _, one := range s.list {
		if s.batch == "" {
			p := sandbox.Program{Args: one.in(sandbox.Folder), Every: s.every}
			err = errors.Join(err, sandbox.Register(to, one.name, p))
			continue
		}
		dir, bad := filepath.Abs(cmp.Or(s.jobDir, filepath.Join(gridrpc.DefaultDir(), "jobs")))
		p := batch.Program{Args: one.in("."), System: s.batch, Options: strings.Fields(s.options), Dir: dir}
		err = errors.Join(err, bad, batch.Register(to, one.name, p))
	}
	return err
}

// in returns the program and its arguments, with {dir} replaced by its working folder.
func (s service) in(dir string) (args []string) {
	for _, arg := range s.args {
		args = append(args, strings.ReplaceAll(arg, "{dir}", dir))
	}
	return args
}
