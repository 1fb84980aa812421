package commitinterval

import (
	"math"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Interval returns the time to compute between two commits that take cost each, if failures
// have a mean time between them of mtbf. The result is sqrt(2*cost*mtbf) - cost, which is
// Young's interval less the time of the commit itself. If a commit takes longer than half of
// mtbf, the result is mtbf (Daly, FGCS 22(3), 2006, section 3, first order). It is at least one
// nanosecond.
//
// Interval returns 0 if cost is 0 or less: a commit that costs nothing is always due.
func Interval(cost, mtbf mono.Duration) mono.Duration {
	switch {
	case cost <= 0:
		return 0
	case cost > mtbf/2:
		return max(mtbf, 1)
	}
	c, m := float64(cost), float64(mtbf)
	return max(mono.Duration(math.Sqrt(2*c*m)-c), 1)
}

// Slowdown returns the expected time of a job divided by its time without failures and commits.
// The job computes for interval, commits for cost, and loses restart at each failure (Daly 2006,
// equation 20, the complete model). All arguments must be positive, except that restart may be 0.
func Slowdown(interval, cost, restart, mtbf mono.Duration) float64 {
	w, m := float64(interval), float64(mtbf)
	return m / w * math.Exp(float64(restart)/m) * math.Expm1((w+float64(cost))/m)
}

// MTBF estimates the mean time between failures of the whole world from the observed time:
// (observed + prior) / (failures + 1). At the start the estimate is the prior; later the
// observation outweighs the prior. It is the inverse of the mean rate of a Gamma posterior whose
// prior is one failure in a time of prior.
func MTBF(observed, prior mono.Duration, failures int) mono.Duration {
	return observed/mono.Duration(failures+1) + prior/mono.Duration(failures+1)
}
