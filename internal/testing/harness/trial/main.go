package trial

import (
	"fmt"
	"io"
	"os"

	"github.com/goulfm/goulfm/internal/testing/harness/cli"
)

// A Program is a driver and the ranks of its jobs. O holds the values of its flags.
type Program[O any] struct {
	Name  string
	Parse func(args []string, out io.Writer) (O, error)
	// Rank runs a rank, and returns false in the driver. It is nil if the ranks are another
	// program.
	Rank func(o O) bool
	// Drive runs the jobs and returns the exit code.
	Drive func(o O, out io.Writer) (int, error)
}

// Main runs the program, or the command of a program. The exit code is 2 for wrong flags, 3 if no
// job could be run, and otherwise that of Drive.
func (p Program[O]) Main(args []string) {
	if code := p.run(args, os.Stdout, os.Stderr); code != 0 {
		os.Exit(code)
	}
}

func (p Program[O]) run(args []string, out, errs io.Writer) (code int) {
	o, err := p.Parse(args, errs)
	if code, ends := cli.Verdict(p.Name, err, errs); ends {
		return code
	}
	if p.Rank != nil && p.Rank(o) {
		return 0
	}
	if code, err = p.Drive(o, out); err != nil {
		fmt.Fprintf(errs, "%s: %v\n", p.Name, err)
		return 3
	}
	return code
}
