// Package mutants shows that the simulator would notice. It runs simulated worlds from
// seeds until an invariant breaks, in a program into which one bug was planted when it was
// built: a rule of the protocols left out, or a mistake that another implementation has
// made.
//
// # Problem
//
// A simulator that finds nothing proves little: it may never meet the schedules in
// which a rule matters, or not look at what goes wrong then. A rule whose removal
// nobody notices is either untested or not needed.
//
// # How
//
// This package holds the arenas: whole clusters, jobs whose ranks are replaced and jobs on several
// nodes (internal/testing/sim), or detectors alone (ring.go), matchers alone (matching.go), one
// flood alone (floods.go), where one run is short. It knows of no bug. Those are edits of the
// source, in package edits, each with its arena and the invariants by which it may be found: being
// found by another one counts as a miss. Command hunter is one Hunt; command cmd builds it anew for
// each bug, which takes a second, and prints the table. A panic of the rules' own assertions counts
// as found by "assert".
//
// The first bug is a canary, which no run can miss.
package mutants
