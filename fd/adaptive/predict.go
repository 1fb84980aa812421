package adaptive

import "math"

// Delays is a network with a known distribution of the delay, for tests and figures.
type Delays struct {
	Loss   float64                       // probability that a beat is lost
	Mean   Duration                      // of the delay
	Beyond func(seconds float64) float64 // Pr(D > seconds); 1 for negative arguments
}

// Predict returns the exact means of a setting where delays are independent and their distribution
// is known (Chen, Toueg, Aguilera, theorem 5). With δ = E(D) + α the time from sending a beat to
// its freshness point, and k = ⌈δ/η⌉:
//
//	p_j(x) = p_L + (1-p_L)·Pr(D > δ+x-jη)
//	u(x)   = Π p_j(x) over j = 0 .. k            suspected at time x after a freshness point
//	p_S    = (1-p_L)·Pr(D < δ+η)·u(0)            a mistake begins there
//	E(T_MR) = η/p_S        E(T_M) = ∫ u(x) dx / p_S  over 0 .. η
func Predict(n Delays, s Setting) Quality {
	eta, delta := s.Period.Seconds(), (n.Mean + s.Shift).Seconds()
	k := math.Ceil(delta / eta)
	suspected := func(x float64) float64 {
		u := 1.0
		for j := 0.0; j <= k; j++ {
			u *= n.Loss + (1-n.Loss)*n.beyond(delta+x-j*eta)
		}
		return u
	}
	begins := (1 - n.Loss) * (1 - n.beyond(delta+eta)) * suspected(0)
	if begins == 0 {
		return Quality{Recurrence: DurationMax, Attainable: true}
	}
	return Quality{
		Recurrence: fromSeconds(eta / begins),
		Duration:   fromSeconds(integral(suspected, eta) / begins),
		Attainable: true,
	}
}

func (n Delays) beyond(seconds float64) float64 {
	if seconds < 0 {
		return 1
	}
	return n.Beyond(seconds)
}

// integral is Simpson's rule over 0 .. to; delays are short beside periods, so the steps
// are many.
func integral(f func(float64) float64, to float64) float64 {
	const steps = 1 << 13
	sum := f(0) + f(to)
	for i := 1; i < steps; i++ {
		sum += f(to*float64(i)/steps) * float64(2+2*(i%2))
	}
	return sum * to / (3 * steps)
}
