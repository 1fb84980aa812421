package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/goulfm/goulfm/internal/base/flagtext"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
	"github.com/goulfm/goulfm/internal/joblaunch/scaffold"
)

const newUsage = `usage: goulfm new [flags] NAME

Writes a program that outlives its processes to the folder NAME: main.go, which is
short and commented, a test that kills it at each point, and go.mod.

  goulfm new first                        a program with steps
  goulfm new -bag -replace DIR second     a bag of tasks, with the goulfm of a checkout in DIR

Flags:
  -bag           independent tasks, each saved when it is done, instead of steps
  -replace DIR   take goulfm from this folder, and not from its repository

Exit code: 0; 1 the folder could not be written; 2 usage.
`

// newFlags are the flags of goulfm new, and the program to write.
type newFlags struct{ scaffold.Program }

func (n *newFlags) register(f *flag.FlagSet) {
	f.BoolVar(&n.Bag, "bag", false, "")
	f.StringVar(&n.Replace, "replace", "", "")
}

// begin is goulfm new.
func begin(args []string, out, errs io.Writer) int {
	var p newFlags
	flags := flag.NewFlagSet("new", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	p.register(flags)
	switch err := flagtext.Parse(flags, args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, newUsage)
		return 0
	case err != nil:
		fmt.Fprintf(errs, "goulfm new: %v\ngoulfm new -h lists the flags\n", err)
		return launch.ExitUsage
	case flags.NArg() != 1:
		fmt.Fprint(errs, newUsage)
		return launch.ExitUsage
	}
	p.Name, p.Version = flags.Arg(0), moduleVersion()
	err := error(nil)
	if p.Replace != "" {
		p.Replace, err = filepath.Abs(p.Replace)
	}
	if err == nil {
		err = p.Write(p.Name)
	}
	if err != nil {
		fmt.Fprintf(errs, "goulfm new: %v\n", err)
		return 1
	}
	kill := "2@step=50"
	if p.Bag {
		kill = "2@task=502"
	}
	fmt.Fprintf(out, "%s is written. Next:\n\n  cd %s && go mod tidy && go test && goulfm run -n 4 --kill %s .\n", p.Name, p.Name, kill)
	return 0
}

// moduleVersion returns the version of goulfm for a go.mod: the version of this command, or v0.0.0
// if this command has none.
func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimSuffix(info.Main.Version, "+dirty")
	}
	return "v0.0.0"
}
