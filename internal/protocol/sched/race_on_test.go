//go:build race

package sched

// raced reduces the tests: the race detector makes the verifier ten times slower and finds nothing
// in it, because the verifier has one goroutine.
const raced = true
