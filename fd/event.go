package fd

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// An Event is something that happened at this process: Exited, Broken, Left,
// Agreed, Receive, Watch, Absent, Came, Vacated or Tick.
type Event interface{ event() }

// Exited is exact evidence of a death: the tombstone of a process, or its reaping.
// It is declared at once. The end of a process that had Left is no death.
type Exited struct {
	Rank int
}

// Broken is evidence from a connection that failed. It is a suspicion only (B19):
// the process is probed, and lives if it answers.
type Broken struct {
	Rank int
}

// Left says that a process has finalized: it is no longer observed, and it is not
// dead (B16). A declaration made elsewhere still counts. If Rank is this process, it
// announces that to all in the death flood, and falls silent itself: nobody waits for
// anybody. Of another process it may be given at each process, which saves the flood;
// then it must come before the silence of the process lasts for Config.Timeout.
type Left struct {
	Rank int
}

// Agreed says that an agreement decided that these processes are dead, which is as
// good as a declaration made elsewhere.
type Agreed struct {
	Dead rankset.Set
}

// Receive is the arrival of a message that another process's Send carried. Msg is
// read during Step only. It is a sign of life of From, whatever it says. From a
// process declared dead it is dropped, and answered with one fence notice (A2, F6).
type Receive struct {
	From int // a process other than this one
	Msg  []byte
}

// Watch says that somebody here waits for Rank, which the ring may not observe from
// here: Rank is probed once, and suspected if it stays silent for Config.Timeout
// (A21). Repeat it as long as the wait lasts. It has no effect in Exact mode.
type Watch struct {
	Rank int
}

// Absent says, as the first event, that these processes are not there yet. Who is absent takes no
// part in the ring, is not observed, is sent nothing and not heard, until it Came.
type Absent struct {
	Ranks rankset.Set // without this process
}

// Came says that a process that was Absent is there: the ring runs through it from now on, here.
// Processes learn of it one after the other. Best it begins itself before any of them learns it;
// who learns it first expects heartbeats from it, or sends them to it, and who does not know it
// yet drops what it says. Nobody is found dead by that who hears of it within Config.Timeout. It
// has no effect if the process was not absent, or has been declared dead meanwhile.
type Came struct {
	Rank int
}

// Vacated says that nobody refers any more to a process that is dead or has left: Rank may be
// that of another process from now on, which is alive. It has no effect in Ring mode, where
// others may still speak of the one before.
type Vacated struct {
	Rank int
}

// Tick says what time it is. Only a Tick moves time: a deadline set by another event
// counts from the next Tick, so it can be later than meant, by at most one
// Config.Period, and never earlier. A Tick right after other events makes it exact.
type Tick struct {
	Now mono.Time // a Now before an earlier one counts as the earlier one
}

func (Exited) event()  {}
func (Broken) event()  {}
func (Left) event()    {}
func (Agreed) event()  {}
func (Receive) event() {}
func (Watch) event()   {}
func (Absent) event()  {}
func (Came) event()    {}
func (Vacated) event() {}
func (Tick) event()    {}

// An Action is something the caller must do: Send, Declare, Suspect, Fenced or
// Anomaly.
type Action interface{ action() }

// Send hands Msg to process To. The bytes belong to whoever takes the action. To is
// dead only if Msg is a fence notice.
type Send struct {
	To  int
	Msg []byte
}

// Declare announces a death. It is irrevocable and comes once per process, before
// any Send of the same Step.
type Declare struct {
	Rank     int
	Evidence Evidence
}

// Suspect announces a suspicion. It is no death: a sign of life ends it silently.
type Suspect struct {
	Rank int
	// Silent is how long this process has listened to Rank in vain; 0 when it was
	// not listening.
	Silent mono.Duration
	// Unanswered says that Rank did not answer the second check within
	// Config.Confirm. It comes as a second Suspect, and only without Config.Fence:
	// whoever is allowed to kill Rank may do it now, and report Exited.
	Unanswered bool
}

// Fenced says that this process has been declared dead and must stop (B20, F7). No
// action follows any later event.
type Fenced struct {
	By int // who told; -1 when it was an agreement, or exact evidence, or nobody
	// Minority says that nobody declared this process: it would have had to declare
	// the greater part of the others, and stops instead (Majority, B18).
	Minority bool
}

// Anomaly reports a message that is not one of this package's. Apart from being a
// sign of life it changed nothing.
type Anomaly struct {
	From int
	Text string
}

func (Send) action()    {}
func (Declare) action() {}
func (Suspect) action() {}
func (Fenced) action()  {}
func (Anomaly) action() {}

// Evidence is what a declaration rests on.
type Evidence uint8

// The kinds of Evidence.
const (
	ByExit      Evidence = iota + 1 // the process ended: tombstone or reaping
	BySilence                       // it was silent for the timeout, and through the second check
	ByNotice                        // another process declared it
	ByAgreement                     // an agreement decided it
)

// String returns "exit", "silence", "notice" or "agreement".
func (e Evidence) String() string {
	switch e {
	case ByExit:
		return "exit"
	case BySilence:
		return "silence"
	case ByNotice:
		return "notice"
	case ByAgreement:
		return "agreement"
	}
	return "no evidence"
}
