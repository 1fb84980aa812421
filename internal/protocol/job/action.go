package job

// An Action is what the caller of Step must do, in order. Proc, By and Root are numbers of
// processes.
type Action interface{ action() }

// Declare puts a process into the list of departures that all processes read, and wakes them.
type Declare struct {
	Proc int
	Left bool // it was through Finalize; else it has died
}

// WakeAll wakes all processes of the node; each polls everything once.
type WakeAll struct{}

// Kill ends a process, if it is not reaped.
type Kill struct{ Proc int }

// KillAll ends all processes, what they have started, and each one that is only being started.
type KillAll struct{}

// EndFenced ends a process that was declared dead and runs on: now if it is stopped, else when
// it has had time to learn of it.
type EndFenced struct{ Proc int }

// Start starts processes in the seats from First on, and answers each with Forked or NotStarted.
// Seats that others had before are vacated first. Rules.Occupant returns the number of each.
type Start struct {
	First, Count int
	Used         []int // seats that others had
	Spare        bool  // it waits for a rank to replace; Count is 1
}

// Postpone has the request made again a little later: seats may be let go of until then.
type Postpone struct{}

// Refill asks whether there is room for a spare; SpareRoom is the answer. Later: a repair has just
// taken one, and is not over.
type Refill struct{ Later bool }

// Waits says that a spare is in Init, and waits; for the story.
type Waits struct{ Proc int }

// Answer tells the process Root what became of its request. First is the number of the first
// process, in the first of N seats in a row.
type Answer struct {
	Root     int
	Token    uint64
	First, N int
	Short    bool // the job has room for fewer
	Died     bool // one was killed, or lost with its node, before it was in Init: to ask again may help
	Why      string
}

// PassKeep tells the processes in the seats from First on that they are wanted.
type PassKeep struct{ First, Count int }

// AllJoined says that the ranks with which the job began are all in Init.
type AllJoined struct{}

// Lost says that others have lost a process; its end is for the story.
type Lost struct{ Proc int }

// Silenced says that a process counts as dead since it shows no life; By is the process that found
// so, or -1: the daemon.
type Silenced struct {
	Proc, By int
	Killed   bool // else it is only declared
}

func (Declare) action()   {}
func (WakeAll) action()   {}
func (Kill) action()      {}
func (KillAll) action()   {}
func (EndFenced) action() {}
func (Start) action()     {}
func (Answer) action()    {}
func (Postpone) action()  {}
func (Refill) action()    {}
func (Waits) action()     {}
func (PassKeep) action()  {}
func (AllJoined) action() {}
func (Lost) action()      {}
func (Silenced) action()  {}
