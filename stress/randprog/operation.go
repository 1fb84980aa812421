package main

// An operation is one thing that programs do: how often, where it may be done, and how. run
// makes the calls of one rank and holds their results to what they must be; all that it
// draws from the step's rng is the same at all members.
type operation struct {
	name   string
	weight int
	run    func(s *step) error

	whole   bool // on the base communicator alone
	makes   bool // it makes a communicator
	ofGroup bool // only by its future members
	agreed  bool // it is an agreement: members that have left the stretch take part, too
	stays   bool // it ends even if nobody revokes: each of its calls needs the dead or the living alone
}

var (
	table     []*operation
	barrierOp = &operation{name: "barrier", weight: 2, run: runBarrier, stays: true}
)

func init() {
	table = append(table, barrierOp)
	table = append(table, messageOps...)
	table = append(table, collectiveOps()...)
	table = append(table, creationOps...)
	table = append(table, agreementOps...)
	table = append(table, windowOps...)
	table = append(table, &operation{name: "goroutines", weight: 4, run: runGoroutines, whole: true, agreed: true, stays: true})
}
