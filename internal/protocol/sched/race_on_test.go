//go:build race

package sched

// raced: the race detector makes the verifier, which has one goroutine, ten times
// slower and finds nothing in it.
const raced = true
