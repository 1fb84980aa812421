// Package mutants shows that the simulator detects bugs. It runs simulated worlds from seeds
// until an invariant breaks, in a program into which one bug was planted at its build: a rule of
// the protocols left out, or a mistake of another implementation.
//
// # Problem
//
// A simulator that finds nothing proves little: it may never meet the schedules in which a rule
// matters, or not check the consequences. A rule whose removal no test detects is either
// untested or not needed.
//
// # Design
//
// This package holds the arenas: whole clusters, jobs whose ranks are replaced and jobs on
// several nodes (internal/testing/sim). Where single runs can be short, an arena holds detectors
// alone (ring.go), matchers alone (matching.go) or one flood alone (floods.go). The package
// contains no bug. The bugs are edits of the source, in package edits, each with its arena and
// the invariants that it may break: a bug that breaks another invariant counts as missed.
// Command hunter makes one Hunt. Command cmd builds the hunter anew for each bug, which takes a
// second, and prints the table. A panic of the rules' own assertions counts as the invariant
// "assert".
//
// The first bug is a canary, which no run can miss.
package mutants
