// Package edits holds the planted bugs. Each bug is text: a few characters of the source and
// their replacement. The go command compiles the changed files in place of the originals (go
// build -overlay), so the source contains no trace of its bugs.
//
// # Problem
//
// A line whose removal no test detects is either untested or not needed. A bug in the form of a
// branch in the rules would burden every reader of the rules, and would cost every message the
// time that shared memory saves.
//
// # Rules
//
// The old text occurs in its file exactly once, and the changed package compiles. Tests of this
// package check both, the second one in long runs, so that an edit which a change of the source
// has invalidated is found. Without the edit the simulated worlds break no invariant and the
// tests pass. With the edit the worlds of its Hunt break one of its invariants, and each of its
// Tests fails: a test that hangs fails at its timeout. Some Tests do the reverse: they show the
// fault, and pass only with the edit (Passes, Script).
//
// # Adding one
//
// A rule of the protocols belongs in the list of its package, with the worlds that find it;
// files.go names files that several edits change. Code that no simulator hosts belongs in
// machinery.go, or in a list of its own, with a test.
// Then run make sabotage SABOTAGE="-run NAME -v".
package edits
