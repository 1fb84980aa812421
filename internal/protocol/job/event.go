package job

// An Event is a fact. Processes are named by their numbers. An event about a process that was never
// requested, or whose slot another process has by now, changes nothing.
type Event interface{ event() }

// Forked reports that the process runs.
type Forked struct{ Proc int }

// NotStarted reports that the process could not be started. The later processes of its batch are
// not tried.
type NotStarted struct {
	Proc     int
	NodeLost bool // the node on which it was to run
	Why      string
}

// Joined reports that the process is in Init.
type Joined struct{ Proc int }

// Found reports that the process has ended, or is taken for dead, and that the others do not know
// this yet.
type Found struct {
	Proc int
	By   Evidence
	Left bool  // was through Finalize
	AtNs int64 // CLOCK_MONOTONIC
}

// Reaped reports that the process has ended, and nothing of it runs any more.
type Reaped struct {
	Proc   int
	Status Status
}

// Heard reports that the process is reaped, and that all of its messages were events before this
// one.
type Heard struct{ Proc int }

// KillDue reports that the plan kills the process now.
type KillDue struct {
	Proc    int
	AtNs    int64
	Planned string // in the words of the plan
}

// Killing reports that the process is about to end itself as planned.
type Killing struct {
	Proc    int
	AtNs    int64
	Planned string
}

// Aborted reports that the process calls Abort for others, or for the whole job if Others is empty.
type Aborted struct {
	Proc, Code int
	Others     []int
}

// Finalizes reports the numbers of calls of Init and Finalize by the process.
type Finalizes struct{ Proc, Inits, Finalizes int }

// Fenced is the report of the process itself that it has learned of its declaration of death.
type Fenced struct{ Proc int }

// Silent reports that the ring detector of the process By finds no life in another one.
type Silent struct {
	Proc, By int
	AtNs     int64
}

// NoLife reports that the process has shown no life for the time after which it counts as dead.
type NoLife struct {
	Proc int
	AtNs int64
}

// Wanted reports that the process Root requests N new ones; any of Parents could keep them. Bad is
// the reason why that is impossible, or empty.
type Wanted struct {
	Root    int
	Token   uint64
	N       int
	Parents []int
	Bad     string
	Replace bool // they get ranks of the dead: spares will do

	// Vacant are the slots of reaped processes to which no other process refers any more,
	// ascending.
	Vacant []int
	// Barred are slots that no process can have: their nodes are lost.
	Barred []int
	// Kept are slots of ended processes to which Root itself still refers, once it has had time to
	// learn of their end.
	Kept []int
	// Early: processes that are about to end may not have ended yet.
	Early bool
	// Last: the others had time enough to release slots. Held lists the references that remain.
	Last bool
	Held string
}

// Kept reports that the parents of the batch whose first process is First have agreed to keep it,
// as By knows. Ranked: they have given the new processes ranks among themselves, so all live
// parents have the same result.
type Kept struct {
	First, By int
	Ranked    bool
}

// Unwanted reports that the batch of N processes from First on is not kept. If N is 0, By, which
// could keep them, reports so about the processes that Root, which has died, had requested.
type Unwanted struct{ First, N, Root, By int }

// Unjoined reports that a process which was to be a rank, or a child of one, has called Init and
// cannot join.
type Unjoined struct{ Why string }

// SpareRoom answers a Refill; Vacant and Barred are those of Wanted.
type SpareRoom struct{ Vacant, Barred []int }

// Roomier reports that there are more slots than before: a node has joined.
type Roomier struct{}

// Stopped reports that the job must end at once, with an exit code and a reason.
type Stopped struct {
	Code int
	Why  string
}

// Interrupted reports that the job was asked to end, and will end by itself, with that code.
type Interrupted struct {
	Code int
	Why  string
}

func (Forked) event()      {}
func (NotStarted) event()  {}
func (Joined) event()      {}
func (Found) event()       {}
func (Reaped) event()      {}
func (Heard) event()       {}
func (KillDue) event()     {}
func (Killing) event()     {}
func (Aborted) event()     {}
func (Finalizes) event()   {}
func (Fenced) event()      {}
func (Silent) event()      {}
func (NoLife) event()      {}
func (Wanted) event()      {}
func (Kept) event()        {}
func (Unwanted) event()    {}
func (Unjoined) event()    {}
func (SpareRoom) event()   {}
func (Roomier) event()     {}
func (Stopped) event()     {}
func (Interrupted) event() {}

// Evidence is the kind of observation that reported an end.
type Evidence string

// The kinds of evidence.
const (
	ByTombstone Evidence = "tombstone" // the process has died and is not reaped
	ByReaping   Evidence = "reaping"
	BySilence   Evidence = "silence" // it shows no life, and may live
	ByNode      Evidence = "node"    // its node is lost
)
