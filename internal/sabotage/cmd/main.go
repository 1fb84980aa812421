// Command cmd prints the table of planted bugs: each is hunted until an
// invariant breaks. It is built with -tags sabotage: make sabotage.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
	"time"

	"github.com/goulfm/goulfm/internal/must"
	"github.com/goulfm/goulfm/internal/sabotage"
	"github.com/goulfm/goulfm/internal/sabotage/edits"
)

func main() {
	seed := flag.Uint64("seed", 1, "first seed of each hunt")
	limit := flag.Duration("time", 5*time.Minute, "give a bug up after so long")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "runs at the same time")
	only := flag.String("run", "", "hunt the bugs whose names match this regular expression")
	verbose := flag.Bool("v", false, "print what broke, and for clusters the command that replays it")
	flag.Parse()
	names, err := regexp.Compile(*only)
	if err != nil || flag.NArg() > 0 || *workers < 1 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags sabotage ./internal/sabotage/cmd [-seed N] [-time D] [-workers N] [-run NAMES] [-v]")
		os.Exit(2)
	}
	if !must.Sabotage {
		fmt.Fprintln(os.Stderr, "sabotage: this build has no bugs planted: use go run -tags sabotage")
		os.Exit(2)
	}
	if !table(names, *seed, sabotage.Limits{Time: *limit, Workers: *workers}, *verbose) {
		os.Exit(1)
	}
}

// table hunts the bugs, prints a line for each, and says whether all were found
// as they should be. Seeds are those of the arena's runs.
func table(names *regexp.Regexp, seed uint64, l sabotage.Limits, verbose bool) bool {
	fmt.Printf("%-12s %-10s %-11s %9s %8s  %-8s %s\n", "bug", "arena", "found by", "runs", "seconds", "seed", "rule left out")
	hunted, missed, all := 0, 0, time.Now()
	for _, b := range sabotage.Bugs() {
		if !names.MatchString(b.Name) {
			continue
		}
		f := b.Hunt(seed, l)
		by := f.Invariant
		hunted++
		switch {
		case !f.Found():
			by = "NOT FOUND"
			missed++
		case !b.Expected(f):
			by += " (!)"
			missed++
		}
		fmt.Printf("%-12s %-10s %-11s %9d %8.2f  %-8d %s\n", b.Name, b.Arena, by, f.Runs, f.Took.Seconds(), f.Seed, b.Rule)
		if f.Found() && (verbose || !b.Expected(f)) {
			fmt.Println(f.Text)
		}
	}
	h, m := edited(names, verbose)
	hunted, missed = hunted+h, missed+m
	fmt.Printf("%d bugs hunted in %.1f s, %d missed, %d workers, first seed %d\n", hunted, time.Since(all).Seconds(), missed, l.Workers, seed)
	return missed == 0
}

// edited is table for the bugs that are edits of the source, each in the tests of its
// package.
func edited(names *regexp.Regexp, verbose bool) (hunted, missed int) {
	root, err := edits.Root()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sabotage:", err)
		return 0, 1
	}
	for _, e := range edits.All() {
		if !names.MatchString(e.Name) {
			continue
		}
		hunted++
		f, err := e.Hunt(root)
		by := f.Test
		if by == "" {
			by = "NOT FOUND"
			missed++
		}
		fmt.Printf("%-20s %-20s %-32s %8.2f  %s\n", e.Name, path.Dir(e.File), by, f.Took.Seconds(), e.Rule)
		switch {
		case err != nil:
			fmt.Println(err)
		case verbose:
			fmt.Println(f.Output)
		}
	}
	return hunted, missed
}
