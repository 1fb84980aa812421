// Command hunter runs simulated worlds of one arena from a first seed until an invariant breaks,
// and prints the result as JSON. No invariant breaks unless a bug was planted at the build of
// the command: make sabotage builds one hunter for each bug.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/goulfm/goulfm/internal/testing/mutants"
)

func main() {
	var h mutants.Hunt
	flag.StringVar(&h.Arena, "arena", "", "kind of worlds: see internal/testing/mutants")
	flag.IntVar(&h.NMax, "nmax", 0, "most processes of a world of whole clusters")
	flag.Uint64Var(&h.First, "seed", 1, "of the first run")
	flag.IntVar(&h.Runs, "runs", 0, "maximum number of runs; 0: no bound")
	flag.DurationVar(&h.Time, "time", 0, "maximum time; 0: no bound")
	flag.IntVar(&h.Workers, "workers", runtime.GOMAXPROCS(0), "runs at the same time")
	flag.Parse()
	found, err := h.Do()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hunter:", err)
		os.Exit(2)
	}
}
