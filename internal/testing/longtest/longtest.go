// Package longtest separates the long tests from those that run in "go test ./...".
//
// A test function, or one row of its table, that takes more than a second or two calls [Skip], or
// takes its number of repetitions from [N] or its rows from [Row]. The test then runs in full only
// if the environment variable GOULFM_LONG is 1: "make check", "make long", "make race" and "make
// nightly" set this. The calls stand in the test function itself, not in a helper, because
// internal/testing/tidy lists the long tests by reading the sources; docs/HACKING.md names all of
// them.
//
// The flag -short has another meaning: the tests under the race detector and with the costly
// assertions are shorter with -short. The flags -long of single packages start searches that no
// target runs.
package longtest

import (
	"os"
	"testing"
)

// Variable is the environment variable that makes long tests run.
const Variable = "GOULFM_LONG"

// On reports whether long tests run.
func On() bool { return os.Getenv(Variable) == "1" }

// Skip skips the test, or the subtest, unless long tests run. The reason names the long part.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if !On() {
		t.Skipf("long: %s; %s=1 runs it", reason, Variable)
	}
}

// N returns full if long tests run, else short.
func N(short, full int) int {
	if On() {
		return full
	}
	return short
}

// Row reports whether row i of a table is tried: every row if long tests run, else the rows 0,
// every, 2*every and so on.
func Row(i, every int) bool { return On() || i%every == 0 }
