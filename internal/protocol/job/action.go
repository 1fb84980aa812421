package job

// An Action is an order to the caller of Step; the order of actions counts. Proc, By and Root are
// numbers of processes.
type Action interface{ action() }

// Declare puts a process into the list of departures that all processes read, and wakes them.
type Declare struct {
	Proc int
	Left bool // was through Finalize; otherwise has died
}

// WakeAll wakes all processes of the node; each polls everything once.
type WakeAll struct{}

// Kill ends a process, if it is not reaped.
type Kill struct{ Proc int }

// KillAll ends all processes, their own children, and each process that is still being started.
type KillAll struct{}

// EndFenced ends a process that was declared dead and still runs: at once if it is stopped,
// otherwise when it has had time to learn of the declaration.
type EndFenced struct{ Proc int }

// Start starts processes in the slots from First on, and answers each with Forked or NotStarted.
// Slots that other processes had before are vacated first. Rules.Occupant returns the number of
// each.
type Start struct {
	First, Count int
	Used         []int // slots that other processes had
	Spare        bool  // it waits for a rank to replace; Count is 1
}

// Postpone repeats the request a little later: until then other processes may release slots.
type Postpone struct{}

// Refill asks whether there is room for a spare; SpareRoom is the answer. Later: a repair has just
// taken one, and is not over.
type Refill struct{ Later bool }

// Waits reports, for the event log, that a spare is in Init, and waits.
type Waits struct{ Proc int }

// Answer reports the result of its request to the process Root. First is the number of the first
// process, in the first of N slots in a row.
type Answer struct {
	Root     int
	Token    uint64
	First, N int
	Short    bool // the job has room for fewer
	Died     bool // one was killed, or lost with its node, before it was in Init: another request may succeed
	Why      string
}

// PassKeep reports to the processes in the slots from First on that they are kept.
type PassKeep struct{ First, Count int }

// AllJoined reports that the ranks with which the job began are all in Init.
type AllJoined struct{}

// Lost reports, for the event log, that the end of a process is a loss to the others.
type Lost struct{ Proc int }

// Silenced reports that a process counts as dead because it shows no life. By is the process that
// found the silence, or -1: the daemon.
type Silenced struct {
	Proc, By int
	Killed   bool // otherwise only declared
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
