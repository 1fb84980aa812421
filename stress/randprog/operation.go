package main

// An operation is one kind of step: its weight, the communicators that it may use, and its calls.
// run makes the calls of one rank and checks their results. All numbers that run draws from the
// step's rng are the same at all members.
type operation struct {
	name   string
	weight int
	run    func(s *step) error

	whole   bool // on the base communicator alone
	makes   bool // the operation makes a communicator
	ofGroup bool // only future members call it
	agreed  bool // an agreement: members that have left the stretch take part, too
	stays   bool // ends even if no member revokes: each of its calls depends either on dead or on live ranks alone
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
