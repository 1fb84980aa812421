package trial

import (
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
)

// RunTests is the TestMain of a driver: a copy of the test's program can be a rank, which
// is started with these words, if there are any, and -rank. main has what follows the words.
func RunTests(m interface{ Run() int }, main func(args []string), words ...string) {
	args := os.Args[1:]
	if n := len(words); len(args) > n && slices.Equal(args[:n], words) && args[n] == "-rank" {
		main(args[n:])
		return
	}
	os.Exit(m.Run())
}

// CheckFlags holds a program's flags to a table of arguments and whether they are good,
// and to what -h gives.
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
