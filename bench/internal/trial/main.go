package trial

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// A Program is a driver and the ranks of its jobs; O is what its flags say.
type Program[O any] struct {
	Name  string
	Parse func(args []string, out io.Writer) (O, error)
	// Rank is all that a rank does; it says false if this is the driver.
	Rank func(o O) bool
	// Drive runs the jobs and returns the exit code.
	Drive func(o O, out io.Writer) (int, error)
}

// Main is the main function of such a program. Exit codes: 2 for wrong flags, 3 if no
// job could be run, else what Drive says.
func (p Program[O]) Main() {
	o, err := p.Parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		os.Exit(2)
	case p.Rank(o):
		return
	}
	code, err := p.Drive(o, os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", p.Name, err)
		code = 3
	}
	os.Exit(code)
}
