package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/folder"
	"github.com/goulfm/goulfm/gridrpc/sandbox"
)

// sandboxed are the programs that servers run in sandboxes.
type sandboxed struct {
	list  []service
	every time.Duration
}

// service is one of them.
type service struct {
	name string
	args []string
}

func (s *sandboxed) register(f *flag.FlagSet) {
	f.DurationVar(&s.every, "image-every", 10*time.Second, "take an image of a program in a sandbox this long after the one before")
	f.Func("program", "`SERVICE=PROGRAM` ARGUMENT...: a service, and the program that it runs in a sandbox; may be repeated", func(text string) error {
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
	return err
}

// parseProgram reads SERVICE=PROGRAM ARGUMENT..., separated by blanks. {dir} in an argument is the folder in which the program
// runs, and may write.
func parseProgram(text string) (service, error) {
	name, line, _ := strings.Cut(text, "=")
	args := strings.Fields(strings.ReplaceAll(line, "{dir}", sandbox.Folder))
	if name == "" || len(args) == 0 {
		return service{}, errors.New("want SERVICE=PROGRAM ARGUMENT...")
	}
	return service{name, args}, nil
}

// server is the command of a server that has these services. Programs are found here: in the folder of this command, or in PATH.
func (s *sandboxed) server() ([]string, error) {
	self, err := os.Executable()
	command := []string{self, "serve", "--image-every", s.every.String()}
	for _, one := range s.list {
		path, missing := exec.LookPath(one.args[0])
		if missing == nil {
			path, missing = filepath.Abs(path)
		}
		if missing == nil { // the sandbox shows what is there, not a link to it
			path, missing = filepath.EvalSymlinks(path)
		}
		err = errors.Join(err, missing)
		command = append(command, "--program", one.name+"="+strings.Join(append([]string{path}, one.args[1:]...), " "))
	}
	return command, err
}

// become has this process run a program in its place: who kills it kills the server.
func become(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("%w: name the program of the server, built for this machine", err)
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, command, os.Environ()))
}

// serveProcess is a server: of such services as "up" starts it, or on a machine that does not see the platform's folder.
func serveProcess(ctx context.Context, args []string) error {
	f := flags("serve")
	var programs sandboxed
	programs.register(f)
	join, name := joinFlags(f)
	if err := programs.parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 || *join != "" || os.Getenv(folder.EnvTether) == "" {
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
	gridrpc.Main(func(s *gridrpc.Server) (err error) {
		for _, one := range programs.list {
			p := sandbox.Program{Args: one.args, Every: programs.every}
			err = errors.Join(err, sandbox.Register(s, one.name, p))
		}
		return err
	})
	return nil
}
