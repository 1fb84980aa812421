// Package edits holds the planted bugs. Each is text: a few characters of the source and
// what stands there instead. The go command takes the changed files for the right ones
// (go build -overlay), so the source knows nothing of its bugs.
//
// # Problem
//
// A line that nothing misses when it is gone is either untested or not needed. A bug that
// is a branch in the rules would be read by everybody who reads the rules, and would cost
// in every message what shared memory saves.
//
// # Rules
//
// The old text is in the file exactly once and the changed package compiles; tests of this
// package see to both, so an edit that a change of the source has overtaken is found at
// once. Without the edit the simulated worlds break nothing and the tests pass. With it
// the worlds of its Hunt break one of its invariants, and each of its Tests fails: one that
// hangs has failed if its time is over.
//
// # Adding one
//
// A rule of the protocols goes into the list of its package, with the worlds that find it;
// files.go names the files. What no simulator hosts goes into machinery.go, with a test.
// Then run make sabotage SABOTAGE="-run NAME -v".
package edits
