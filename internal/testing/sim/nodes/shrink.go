package nodes

import "errors"

// Shrink removes faults from a run that broke an invariant, as long as the rest breaks the same
// one. Choices are independent of each other (see draw), so the rest is much the same run.
func Shrink(v *Violation) *Violation {
	left := v.Options.Faults
	if left == nil {
		left = []int{}
		for number := range newNodeRun(v.Options).faults {
			left = append(left, number)
		}
	}
	for before := len(left) + 1; len(left) < before; {
		before = len(left)
		for part := (len(left) + 1) / 2; part > 0; part /= 2 {
			v, left = dropNodeFaults(v, left, part)
		}
	}
	return v
}

// dropNodeFaults removes part faults at a time.
func dropNodeFaults(v *Violation, left []int, part int) (*Violation, []int) {
	for lo := 0; lo < len(left); {
		hi := min(lo+part, len(left))
		o := v.Options
		o.Faults = append(append([]int{}, left[:lo]...), left[hi:]...) // never nil, which means all
		_, err := Run(o)
		if smaller, broken := errors.AsType[*Violation](err); broken && smaller.Invariant == v.Invariant {
			v, left = smaller, o.Faults
		} else {
			lo = hi
		}
	}
	return v, left
}
