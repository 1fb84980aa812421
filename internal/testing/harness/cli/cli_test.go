package cli

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args    string
		n       int
		isHelp  bool
		isError bool
		said    string
	}{
		{"", 4, false, false, ""},
		{"-n 2 x", 2, false, false, ""},
		{"-h", 4, true, true, "usage: x [flags]\nWhat it does.\n  -n int\n    \tranks (default 4)\n"},
		{"-frob", 4, false, true, "flag provided but not defined: -frob\nusage: x [flags]\nWhat it does.\n  -n int\n    \tranks (default 4)\n"},
	} {
		var out strings.Builder
		fs := Flags("x", "usage: x [flags]\nWhat it does.", &out)
		n := fs.Int("n", 4, "ranks")
		err := fs.Parse(strings.Fields(c.args))
		if *n != c.n || errors.Is(err, flag.ErrHelp) != c.isHelp || (err != nil) != c.isError || out.String() != c.said {
			t.Errorf("%q: n = %d, %v, said %q", c.args, *n, err, &out)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		ends bool
		said string
	}{
		{nil, 0, false, ""},
		{flag.ErrHelp, 0, true, ""},
		{errors.New("want more"), 2, true, "x: want more\n"},
	} {
		var errs strings.Builder
		if code, ends := Verdict("x", c.err, &errs); code != c.code || ends != c.ends || errs.String() != c.said {
			t.Errorf("%v: code %d, ends: %v, said %q", c.err, code, ends, &errs)
		}
	}
}

func TestRun(t *testing.T) {
	var errs strings.Builder
	if code := run("x", func(context.Context) error { return nil }, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("code %d, said %q", code, &errs)
	}
	interrupted := func(ctx context.Context) error {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := self.Signal(os.Interrupt); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if code := run("x", interrupted, &errs); code != 1 || errs.String() != "x: context canceled\n" {
		t.Errorf("code %d, said %q", code, &errs)
	}
}
