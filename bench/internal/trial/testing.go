package trial

import (
	"errors"
	"flag"
	"io"
	"os"
	"strings"
)

// RunTests is the TestMain of a driver: a copy of the test's program can be a rank, which
// is started with -rank as its first argument.
func RunTests(m interface{ Run() int }, main func()) {
	if len(os.Args) > 1 && os.Args[1] == "-rank" {
		main()
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
