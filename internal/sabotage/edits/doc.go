// Package edits holds planted bugs that are text: a few characters of a source file and
// what stands there instead. Hunt builds the package with the changed file in the place
// of the right one (go test -overlay) and runs the tests that must fail then.
//
// # Problem
//
// A line that no test misses when it is gone is either untested or not needed. The bugs
// of package sabotage are branches in the rules; where shared memory or goroutines are
// concerned a branch would cost what the line is there to save, and would stand in the
// way of who reads it. An edit leaves the source as it is.
//
// # Rules
//
// The old text is in the file exactly once; a test of this package sees to that, so an
// edit that a change of the source has overtaken is found at once. The changed package
// compiles. The tests pass without the edit, and one of them fails with it: a test that
// hangs has failed if its time is over.
package edits
