// Command hunter runs simulated worlds of one arena from a seed on until an invariant
// breaks, and prints what came of it as JSON. Nothing breaks unless a bug was planted when
// it was built: make sabotage builds one for each bug.
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
	flag.StringVar(&h.Arena, "arena", "", "which worlds: see internal/testing/mutants")
	flag.IntVar(&h.NMax, "nmax", 0, "most processes of a world of whole clusters")
	flag.Uint64Var(&h.First, "seed", 1, "of the first run")
	flag.IntVar(&h.Runs, "runs", 0, "give up after so many; 0: never")
	flag.DurationVar(&h.Time, "time", 0, "give up after so long; 0: never")
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
