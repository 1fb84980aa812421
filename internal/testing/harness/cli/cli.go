// Package cli handles the start and the end of the programs of bench and stress: flags, wrong
// flags, interrupts and errors.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Flags returns an empty set of flags whose Parse returns its errors. After a request for help or
// an error, Parse prints usage to out, one line or more, and the list of the flags.
func Flags(program, usage string, out io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet(program, flag.ContinueOnError)
	fs.SetOutput(out)
	fs.Usage = func() {
		fmt.Fprintln(out, usage)
		fs.PrintDefaults()
	}
	return fs
}

// Verdict reports whether a program ends with this error of its flags, and returns the exit code: 0
// after a request for help, 2 for wrong flags. Verdict prints the error of wrong flags to errs.
func Verdict(program string, err error, errs io.Writer) (code int, ends bool) {
	switch {
	case err == nil:
		return 0, false
	case errors.Is(err, flag.ErrHelp):
		return 0, true
	}
	fmt.Fprintf(errs, "%s: %v\n", program, err)
	return 2, true
}

// Check ends this program if Verdict reports an end.
func Check(program string, err error) {
	if code, ends := Verdict(program, err, os.Stderr); ends {
		os.Exit(code)
	}
}

// Run calls f with a context that an interrupt cancels. If f returns an error, Run ends this
// program with exit code 1.
func Run(program string, f func(ctx context.Context) error) {
	if code := run(program, f, os.Stderr); code != 0 {
		os.Exit(code)
	}
}

func run(program string, f func(ctx context.Context) error, errs io.Writer) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := f(ctx); err != nil {
		fmt.Fprintf(errs, "%s: %v\n", program, err)
		return 1
	}
	return 0
}
