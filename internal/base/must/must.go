// Package must holds assertions: they state what a correct program can never
// violate. A violated one panics with its text; failures of the world (a dead
// peer, bad input) are returned as errors and never asserted.
package must

import "fmt"

// That panics with the formatted text unless cond holds.
func That(cond bool, format string, args ...any) {
	if !cond {
		panic("goulfm: broken invariant: " + fmt.Sprintf(format, args...))
	}
}
