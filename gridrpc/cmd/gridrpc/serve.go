package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
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
	f.DurationVar(&s.every, "image-every", 10*time.Second, "from the end of an image of a program in a sandbox to the next one")
	f.Func("program", "SERVICE=PROGRAM ARGUMENT...: a service, and the program that it runs in a sandbox", func(text string) error {
		one, err := parseProgram(text)
		s.list = append(s.list, one)
		return err
	})
}

// parseProgram reads SERVICE=PROGRAM ARGUMENT..., separated by blanks. {dir} in an argument is the folder in which the program
// runs, and may write.
func parseProgram(text string) (service, error) {
	name, line, _ := strings.Cut(text, "=")
	args := strings.Fields(strings.ReplaceAll(line, "{dir}", sandbox.Folder))
	if name == "" || len(args) == 0 {
		return service{}, fmt.Errorf("--program %q: want SERVICE=PROGRAM ARGUMENT", text)
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

// serveProcess is a server of such services, as "up" starts it.
func serveProcess(args []string) error {
	f := flags("serve")
	var programs sandboxed
	programs.register(f)
	if err := parse(f, args); err != nil || len(programs.list) == 0 {
		return errUsage
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
