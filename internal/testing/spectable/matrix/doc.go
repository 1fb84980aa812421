// Package matrix runs every call in every state of package spectable, one cell at
// a time on four ranks, and says where the outcome is not what the rules allow.
//
// A cell knows nothing of how its ranks run: an [Env] says how one of them dies
// and how they give each other signs outside of the job (a message would let
// knowledge in that the state says is not there). The tests in conformance run
// the ranks as goroutines; conformance/testdata/cells runs the same cells as processes of a real job.
//
// No cell sleeps. What must happen "during" a call happens when the engine says
// that the call waits.
package matrix
