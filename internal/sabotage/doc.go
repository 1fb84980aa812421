// Package sabotage shows that the simulator would notice. It plants one bug at a
// time - a rule of the protocols left out, or a mistake that another
// implementation has made - and runs simulated clusters from seeds until an
// invariant breaks.
//
// # Problem
//
// A simulator that finds nothing proves little: it may never meet the schedules in
// which a rule matters, or not look at what goes wrong then. A rule whose removal
// nobody notices is either untested or not needed.
//
// # How
//
// The flaws are branches inside the rules, compiled only with the build tag
// "sabotage" and chosen at run time by control.Flaws and match.Flaw, which
// production never sets. Each Bug names the rule, where it is hunted - in whole
// clusters (internal/sim), or among detectors alone (ring.go) or matchers alone
// (matching.go), where one run is short - and by which invariants it may be
// found: being found by another one counts as a miss. A panic of the rules' own
// assertions counts as found by "assert".
//
// The first bug is a canary, which no run can miss.
package sabotage
