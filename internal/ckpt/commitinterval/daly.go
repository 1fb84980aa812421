package commitinterval

import (
	"math"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Interval returns how long to compute between two commits that take cost each, if
// failures come every mtbf in the mean: sqrt(2*cost*mtbf) - cost, which is Young's
// interval less the time of the commit itself; mtbf if a commit takes longer than half
// of that (Daly, FGCS 22(3), 2006, section 3, first order). At least one nanosecond.
//
// It returns 0 if cost is 0 or less: a commit that costs nothing is always due.
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

// Slowdown returns the expected time of a job over the time that it would take without
// failures and commits: it computes for interval, commits for cost, loses restart at
// each failure (Daly 2006, equation 20, the complete model). All must be positive, but
// restart may be 0.
func Slowdown(interval, cost, restart, mtbf mono.Duration) float64 {
	w, m := float64(interval), float64(mtbf)
	return m / w * math.Exp(float64(restart)/m) * math.Expm1((w+float64(cost))/m)
}

// MTBF estimates the mean time between failures, of the whole world, from its life so
// far: (observed + prior) / (failures + 1). It is the prior at the start, and what was
// seen once that outweighs it: the mean of a Gamma posterior whose prior is one failure
// in a time of prior.
func MTBF(observed, prior mono.Duration, failures int) mono.Duration {
	return observed/mono.Duration(failures+1) + prior/mono.Duration(failures+1)
}
