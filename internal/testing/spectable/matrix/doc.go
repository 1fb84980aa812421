// Package matrix runs every call in every state of package spectable, one cell at a time on four
// ranks, and reports the outcomes that the rules do not allow.
//
// A cell is independent of the environment of its ranks. An [Env] defines how a rank dies and how
// ranks signal each other outside of the job: a message would carry knowledge that the state
// excludes. The tests in conformance run the ranks as goroutines; conformance/testdata/cells runs
// the same cells as processes of a real job.
//
// No cell sleeps. An event "during" a call happens when the engine reports that the call waits. In
// cells of windows the other ranks yield a fixed number of times first.
package matrix
