package era

// Flaw is one repair left out on purpose, so that tests and the simulator can
// show that it is needed and that they would notice. Production uses NoFlaw.
type Flaw uint8

// The flaws. Each constant is named after the repair that it leaves out.
const (
	// NoFlaw is the full set of rules.
	NoFlaw Flaw = iota
	// FlawA1: a RESULTREQUEST from q proves that every r < q is dead, and is
	// answered by an UP to q, who need not be the parent. Splits.
	FlawA1
	// FlawA5b: only dead members that did not contribute count as an error.
	// Success with different acknowledged sets.
	FlawA5b
	// FlawA6: DOWN is taken from anybody, closed members included. Splits.
	FlawA6
	// FlawA8: a new root forgets who had contributed. Stalls.
	FlawA8
	// FlawA9: a root asks when it becomes root, and not again when a later death
	// gives it new children. Stalls.
	FlawA9
	// FlawA10: a waiting member does not write down who requested the result.
	// Stalls.
	FlawA10
	// FlawA12: the tree for agreement k leaves out the dead agreed before k,
	// instead of those agreed up to k-Window. Members that decide in different
	// orders build different trees. Stalls.
	FlawA12
	// FlawPaper: ERA Parts 1-4 as printed, see paper.go. Splits and stalls.
	FlawPaper
)

// String returns "none", "A1", ..., "paper".
func (f Flaw) String() string {
	switch f {
	case NoFlaw:
		return "none"
	case FlawA1:
		return "A1"
	case FlawA5b:
		return "A5b"
	case FlawA6:
		return "A6"
	case FlawA8:
		return "A8"
	case FlawA9:
		return "A9"
	case FlawA10:
		return "A10"
	case FlawA12:
		return "A12"
	case FlawPaper:
		return "paper"
	}
	return "unknown"
}

// hearsTheDead says whether frames of closed members are let through.
func (f Flaw) hearsTheDead() bool { return f == FlawA6 || f == FlawPaper }
