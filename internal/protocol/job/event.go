package job

// An Event is a fact. Processes are named by their numbers. An event about a process that was never
// wanted, or whose seat another process has by now, changes nothing.
type Event interface{ event() }

// Forked says that the process runs.
type Forked struct{ Proc int }

// NotStarted says that the process could not be started, and those of its batch that come after it
// are not tried.
type NotStarted struct {
	Proc     int
	NodeLost bool // the node on which it was to run
	Why      string
}

// Joined says that the process is in Init.
type Joined struct{ Proc int }

// Found says that the process has ended, or is taken for dead, and this is not known to others yet.
type Found struct {
	Proc int
	By   Evidence
	Left bool  // it was through Finalize
	AtNs int64 // CLOCK_MONOTONIC
}

// Reaped says that the process has ended, and nothing of it runs any more.
type Reaped struct {
	Proc   int
	Status Status
}

// Heard says that the process is reaped, and all that it has said was an event before this one.
type Heard struct{ Proc int }

// KillDue says that the plan says that the process is to be killed now.
type KillDue struct {
	Proc    int
	AtNs    int64
	Planned string // in the words of the plan
}

// Killing says that the process says that it is about to end itself as planned.
type Killing struct {
	Proc    int
	AtNs    int64
	Planned string
}

// Aborted says that the process calls Abort for others, or without any for the whole job.
type Aborted struct {
	Proc, Code int
	Others     []int
}

// Finalizes says that the process has called Init and Finalize that often.
type Finalizes struct{ Proc, Inits, Finalizes int }

// Fenced says that the process says that it has learned that it was declared dead.
type Fenced struct{ Proc int }

// Silent says that the ring detector of a process finds that another one shows no life.
type Silent struct {
	Proc, By int
	AtNs     int64
}

// NoLife says that the process has shown no life for the time after which it counts as dead.
type NoLife struct {
	Proc int
	AtNs int64
}

// Wanted says that the process Root wants N new ones; any of Parents could keep them. Bad is why
// that cannot be, or empty.
type Wanted struct {
	Root    int
	Token   uint64
	N       int
	Parents []int
	Bad     string
	Replace bool // they get ranks of the dead: spares will do

	// Vacant are the seats of reaped processes to which no other refers any more, ascending.
	Vacant []int
	// Barred are seats that no process can have: their nodes are lost.
	Barred []int
	// Kept are seats of the gone to which Root itself still refers, once it has had time to learn
	// of their end.
	Kept []int
	// Early: processes that are about to end may not have ended yet.
	Early bool
	// Last: there was time enough for others to let go of seats. Held says who refers to whom.
	Last bool
	Held string
}

// Kept says that those who started the batch whose first process is First agree to have it, as By
// knows. Ranked: they have given them ranks among themselves, so all who live have come to the
// same.
type Kept struct {
	First, By int
	Ranked    bool
}

// Unwanted says that nobody has the batch of N processes whose first one is First. N 0: By, which
// could keep them, says so of those for which Root had asked, which has died.
type Unwanted struct{ First, N, Root, By int }

// Unjoined says that a process which was to be a rank, or one below it, has called Init and cannot
// join.
type Unjoined struct{ Why string }

// SpareRoom answers a Refill; Vacant and Barred are those of Wanted.
type SpareRoom struct{ Vacant, Barred []int }

// Roomier says that there are seats that could not be had before: a node has come.
type Roomier struct{}

// Stopped says that the job is to end at once, with an exit code and for a reason.
type Stopped struct {
	Code int
	Why  string
}

// Interrupted says that the job was asked to end, and will by itself, with that code.
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

// Evidence is what told of an end.
type Evidence string

// What can tell of an end.
const (
	ByTombstone Evidence = "tombstone" // the process has died and is not reaped
	ByReaping   Evidence = "reaping"
	BySilence   Evidence = "silence" // it shows no life, and may live
	ByNode      Evidence = "node"    // its node is lost
)
