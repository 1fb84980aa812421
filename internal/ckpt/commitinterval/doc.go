// Package commitinterval computes how often a world of processes should commit.
//
// A commit costs time, and so does the work that must be repeated after a failure. Young (1974) and
// Daly (2006) give the interval at which the sum is least, from the cost of a commit and the mean
// time between failures (MTBF). Neither is known when a job starts. The cost is measured; the MTBF
// is estimated from a prior and from the observed failures.
//
// Every process measures with its own clock, so two processes compute different intervals. They
// must commit at the same points of the program, or one of them waits in a commit that another has
// skipped. So no process follows its own request. Each member puts its requested interval, in
// unary, into the flag of the agreement that ends a commit. The flags are ANDed, and all members
// decode the same number from the result: the shortest requested interval.
//
//	N     word (least bit right)
//	  1   ...00000001
//	  2   ...00000011
//	  3   ...00000111
//	  4   ...00001111   the steps are 1 2 3 4 6 8 12 16 24 ... 65536
//	  6   ...00011111
//
// # Invariants
//
//   - Unary is monotonic: the AND of two words is the word of the shorter requested interval.
//   - A requested interval is never rounded up: more work at risk than the formula allows is worse
//     than a commit too many.
//
// # Not promised
//
// Daly's model assumes that failures are a Poisson process. Failures in bursts make the estimate of
// the MTBF too small for a while, which costs some needless commits.
//
// To read next: daly.go, unary.go, pacer.go.
package commitinterval
