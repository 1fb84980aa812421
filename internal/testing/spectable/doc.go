// Package spectable is the specification as data: the rules R, C and W of docs/SEMANTICS.md with
// the tests of each ([Rules]), the permitted results of an operation in a state ([Expect]), the
// effect of the end of a context on each call ([Contexts]), and the rules that do not hold yet
// ([Gaps]).
//
// The data is written from the rules and not from the code, and imports no package of this module,
// so it cannot repeat a mistake of the code. The tests of this package compare the page, the table
// and the names of the test functions. The tests of conformance run every call in every state of
// package matrix and compare the result with [Expect].
//
// The rules of protocols (A, B, F and V) stand on the page alone. A test reads their tables there:
// each rule names tests that exist, and a test of A, B or F cites its rule.
package spectable
