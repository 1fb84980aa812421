// Command cmd prints the table of planted bugs. Each bug is hunted until an invariant breaks, or
// a test fails. The command must run inside the module: make sabotage.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/testing/mutants/edits"
)

const usage = `usage: go run ./internal/testing/mutants/cmd [flags]
  -run NAMES   the bug of this name, or those whose names match this regular expression
  -seed N      first seed of each hunt (default 1)
  -time D      time limit for each bug (default 5m)
  -workers N   runs at the same time (default: one per core)
  -quick       count the bugs that make test finds: without long tests, hunts, tags and arguments
  -v           print the broken invariant, and the command that repeats the run
  -write DIR   hunt nothing: write the one bug that -run names to DIR, for go build -overlay DIR/overlay.json
`

// job holds the parameters of the command line.
type job struct {
	root    string // of the module
	names   *regexp.Regexp
	seed    uint64
	limit   time.Duration
	workers int
	verbose bool
	quick   bool
	write   string
}

func main() {
	var j job
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Uint64Var(&j.seed, "seed", 1, "")
	flag.DurationVar(&j.limit, "time", 5*time.Minute, "")
	flag.IntVar(&j.workers, "workers", runtime.GOMAXPROCS(0), "")
	flag.BoolVar(&j.quick, "quick", false, "")
	flag.BoolVar(&j.verbose, "v", false, "")
	flag.StringVar(&j.write, "write", "", "")
	only := flag.String("run", "", "")
	flag.Parse()
	var err error
	if j.names, err = regexp.Compile(*only); err != nil || flag.NArg() > 0 || j.workers < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if j.root, err = edits.Root(); err == nil {
		switch {
		case j.write != "":
			err = j.plant()
		case j.quick:
			j.count()
		default:
			err = j.table()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sabotage:", err)
		os.Exit(1)
	}
}

// bugs returns the requested bugs.
func (j job) bugs() (bugs []edits.Edit) {
	for _, e := range edits.All() {
		if e.Name == j.names.String() {
			return []edits.Edit{e}
		}
		if j.names.MatchString(e.Name) {
			bugs = append(bugs, e)
		}
	}
	return bugs
}

// plant writes one bug for the go command.
func (j job) plant() error {
	bugs := j.bugs()
	if len(bugs) != 1 {
		return fmt.Errorf("-run %v names %d bugs, want one", j.names, len(bugs))
	}
	if err := os.MkdirAll(j.write, 0o755); err != nil {
		return err
	}
	overlay, err := bugs[0].Write(j.root, j.write)
	if err == nil {
		fmt.Println(overlay)
	}
	return err
}

// table hunts the bugs and prints a line for each. It returns an error if some bugs were not
// found, or were found by an unexpected invariant.
func (j job) table() error {
	bugs, missed, all := j.bugs(), 0, time.Now()
	last := ""
	for _, e := range bugs {
		kind := "test"
		if e.Hunt.Arena != "" {
			kind = "arena"
		}
		if kind != last {
			j.head(kind)
			last = kind
		}
		found := false
		if kind == "arena" {
			found = j.huntOne(e)
		} else {
			found = j.tryAll(e)
		}
		if !found {
			missed++
		}
	}
	fmt.Printf("%d bugs hunted in %.1f s, %d missed, %d workers, first seed %d\n", len(bugs), time.Since(all).Seconds(), missed, j.workers, j.seed)
	if missed > 0 {
		return fmt.Errorf("%d bugs were missed", missed)
	}
	return nil
}

// count prints the test of make test that finds each bug, and the number of found bugs. A bug
// that make test does not find is no error: the tests of make check find that bug.
func (j job) count() {
	j.head("test")
	bugs, found := j.bugs(), 0
	for _, e := range bugs {
		by, start := "", time.Now()
		for _, t := range e.QuickTests() {
			f, err := e.TryQuick(j.root, t)
			if err != nil {
				fmt.Println(err)
			}
			if by = f.By; by != "" {
				found++
				break
			}
		}
		fmt.Printf("%-20s %-20s %-32s %8.2f  %s\n", e.Name, path.Dir(e.Changes[0].File), cmp.Or(by, "NOT FOUND"), time.Since(start).Seconds(), e.Rule)
	}
	fmt.Printf("make test finds %d of %d bugs\n", found, len(bugs))
}

func (j job) head(kind string) {
	if kind == "arena" {
		fmt.Printf("%-22s %-10s %-11s %9s %8s  %-8s %s\n", "bug", "arena", "found by", "runs", "seconds", "seed", "rule left out")
		return
	}
	fmt.Printf("%-20s %-20s %-32s %8s  %s\n", "bug", "package", "found by", "seconds", "rule left out")
}

// huntOne prints the result of a hunt, and reports whether it is the expected one. Seeds are
// those of the arena's runs.
func (j job) huntOne(e edits.Edit) bool {
	f, err := j.hunt(e)
	if err != nil {
		fmt.Println(err)
		return false
	}
	by, expected := f.Invariant, e.Hunt.Expects(f.Invariant)
	switch {
	case !f.Found():
		by = "NOT FOUND"
	case !expected:
		by += " (!)"
	}
	fmt.Printf("%-22s %-10s %-11s %9d %8.2f  %-8d %s\n", e.Name, e.Hunt.Arena, by, f.Runs, f.Took.Seconds(), f.Seed, e.Rule)
	if f.Found() && (j.verbose || !expected) {
		fmt.Println(f.Text)
		if strings.Contains(f.Text, "replay: goulfm sim") {
			fmt.Printf("where goulfm is go run -overlay DIR/overlay.json ./cmd/goulfm, after make sabotage SABOTAGE='-run %s -write DIR'\n", e.Name)
		}
	}
	return expected
}

// tryAll is huntOne for a bug that only tests find: each of these tests must find the bug.
func (j job) tryAll(e edits.Edit) bool {
	all := true
	for _, t := range e.Tests {
		all = j.tryOne(e, t) && all
	}
	return all
}

func (j job) tryOne(e edits.Edit, t edits.Test) bool {
	f, err := e.Try(j.root, t)
	by := f.By
	if by == "" {
		by = "NOT FOUND"
	}
	fmt.Printf("%-20s %-20s %-32s %8.2f  %s\n", e.Name, path.Dir(e.Changes[0].File), by, f.Took.Seconds(), e.Rule)
	switch {
	case err != nil:
		fmt.Println(err)
	case j.verbose:
		fmt.Println(f.Output)
	}
	return f.By != ""
}
