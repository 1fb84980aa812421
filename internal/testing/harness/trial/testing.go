package trial

import (
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
)

// RunTests is the TestMain of a driver. A copy of the test's program can be a rank, which is
// started with these words, if any, and -rank. main gets the arguments after the words.
func RunTests(m interface{ Run() int }, main func(args []string), words ...string) {
	args := os.Args[1:]
	if n := len(words); len(args) > n && slices.Equal(args[:n], words) && args[n] == "-rank" {
		main(args[n:])
		return
	}
	os.Exit(m.Run())
}

// CheckFlags checks a program's flags against a table of valid and wrong arguments, and against the
// output of -h.
func CheckFlags[O any](t interface{ Errorf(string, ...any) }, parse func([]string, io.Writer) (O, error), table map[string]bool) {
	for args, good := range table {
		if _, err := parse(strings.Fields(args), io.Discard); (err == nil) != good {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, err := parse([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}
