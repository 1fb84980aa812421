// Package pausepoint injects delays between a check and the effect that relies on it.
//
// The operating system may take the processor from a process at any instruction, for longer than
// the detection and repair of a failure take. A test rarely meets such a pause at the instruction
// where it matters. So each check of liveness, epoch, revocation or ownership whose result permits
// a change that other processes see is followed by
//
//	if pausepoint.Enabled {
//		pausepoint.At("engine.serve")
//	}
//
// With the build tag "pausepoints" and the variable GOULFM_PAUSE set, At sleeps now and then. A
// pause must never change a result, end a job or leave two owners. The points of package failpoint,
// which stand before every store that others see, are pause points named "store" as well.
//
// GOULFM_PAUSE is a list of settings separated by commas:
//
//	seed=N      the sequence of pauses (default 1; each process mixes its pid in)
//	rate=N      one visit in N pauses (default 1000)
//	min=D       shortest pause (default 1ms)
//	max=D       longest pause (default 50ms)
//	place=NAME  only places whose name begins with NAME (default: all)
//
// Without the tag Enabled is a false constant and the compiler removes every point.
package pausepoint
