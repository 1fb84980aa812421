// Package spectable is the specification as data: every rule of
// docs/SEMANTICS.md with the tests that hold it ([Rules]), what an operation may
// return in a state ([Expect]), what the end of a context does to each call
// ([Contexts]), and the rules known not to hold yet ([Gaps]).
//
// The data is written from the rules and not from the code, and imports nothing of
// ours, so it cannot agree with a mistake by construction. The tests of this
// package hold the page, the table and the names of the test functions to each
// other; the tests of conformance run every call in every state of package matrix against
// [Expect].
//
// Not in here: the rules of the agreement and of the detectors (A and B), whose
// tests cite the papers.
package spectable
