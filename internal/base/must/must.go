// Package must holds assertions: conditions that a correct program never violates. A violated
// assertion panics with its text. Failures of the environment (a dead peer, bad input) are returned
// as errors and never asserted.
package must

import "fmt"

// That panics with the formatted text unless cond holds.
func That(cond bool, format string, args ...any) {
	if !cond {
		panic("goulfm: broken invariant: " + fmt.Sprintf(format, args...))
	}
}
