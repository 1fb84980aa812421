package fd

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// An Event is something that happened at this process: Exited, Broken, Left,
// Agreed, Receive, Watch, Absent, Came, Vacated or Tick.
type Event interface{ event() }

// Exited is exact evidence of a death: the tombstone of a process, or its reaping. The death is
// declared at once. The end of another process that had Left is no death. If Rank is this process,
// the action is Fenced.
type Exited struct {
	Rank int
}

// Broken is evidence from a connection that failed. Broken is a suspicion only (B19): in Ring mode
// the process is probed, and a sign of life ends the suspicion. In Exact mode there is no probe:
// the caller has to supply evidence. Broken has no effect if Rank is dead, left, absent or
// suspected.
type Broken struct {
	Rank int
}

// Left reports that a process has finalized: Rank is no longer observed, and is not dead (B16). A
// declaration made elsewhere still counts. If Rank is this process, the detector announces the
// departure to all in the death flood, and no process waits for another. From then on the detector
// has no deadline, sends no periodic heartbeat, and suspects no process of silence; it still
// answers messages, forwards notices and reports a Broken. Left of another process may be given at
// each process, which saves the flood; then the event must precede a silence of Rank of
// Config.Timeout.
type Left struct {
	Rank int
}

// Agreed reports that an agreement decided that these processes are dead, which is as good as a
// declaration made elsewhere. If this process is among them, the action is Fenced.
type Agreed struct {
	Dead rankset.Set
}

// Receive is the arrival of a message that another process's Send carried. Msg is read during Step
// only. A message from a process declared dead is dropped. The first one is answered with a fence
// notice (A2, F6), unless From is known to have ended or was informed before. A message from a
// process that has left or is absent is dropped, too. Every other message is a sign of life of
// From.
type Receive struct {
	From int // another process
	Msg  []byte
}

// Watch reports that a caller here waits for Rank, which the ring may not observe from here: Rank
// is probed once, and suspected after a silence of Config.Timeout (A21). Repeat Watch as long as
// the wait lasts. Watch has no effect in Exact mode, after this process has Left, and if Rank is
// the emitter, is probed already, or is dead, left or absent.
type Watch struct {
	Rank int
}

// Absent reports, as the first event, that these processes are not there yet. An absent process
// takes no part in the ring and is not observed; until Came, nothing is sent to it, and its
// messages are dropped.
type Absent struct {
	Ranks rankset.Set // without this process
}

// Came reports that a process that was Absent is there: from now on the local ring includes Rank.
// Processes learn of Rank one after the other. Rank should start before any other process learns of
// its arrival. The first process to learn expects heartbeats from Rank, or sends heartbeats to
// Rank; a process that has not learnt yet drops messages from Rank. No process is found dead
// because of this if all learn within Config.Timeout. Came has no effect if Rank was not absent. A
// Rank that has been declared dead meanwhile stays dead.
type Came struct {
	Rank int
}

// Vacated reports that no reference to a process that is dead or has left remains: from now on Rank
// may belong to a different process, which is alive. Vacated has no effect in Ring mode, where
// messages may still refer to the former process.
type Vacated struct {
	Rank int
}

// Tick gives the current time. Only a Tick moves time: a deadline set by another event counts from
// the next Tick, so the deadline can be later than meant, and never earlier. If each Tick comes at
// its Deadline, the difference is at most one period of this process's heartbeats. A Tick right
// after other events makes the deadline exact.
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

// Send hands Msg to process To. The bytes belong to the receiver of the action. To is dead only if
// Msg is a fence notice.
type Send struct {
	To  int
	Msg []byte
}

// Declare announces a death. A declaration is irrevocable and is made once per process (Vacated
// gives the number to another process), before any Send of the same Step.
type Declare struct {
	Rank     int
	Evidence Evidence
}

// Suspect announces a suspicion. A suspicion is no death: a sign of life ends the suspicion
// silently.
type Suspect struct {
	Rank int
	// Silent is how long this process has listened to Rank in vain; 0 if this process was not
	// listening, and after Broken of a process other than the emitter.
	Silent mono.Duration
	// Unanswered reports that Rank did not answer the second check within Config.Confirm. This is a
	// second Suspect, and only without Config.Fence: a caller with the right to kill Rank may do so
	// now, and report Exited. A caller without this right waits for Agreed.
	Unanswered bool
}

// Fenced reports that this process has been declared dead and must stop (B20, F7). No action
// follows any later event.
type Fenced struct {
	By int // the process that reported the declaration; -1 for an agreement, exact evidence, or no declaration
	// Minority reports that no process declared this one: this process would have had to declare
	// the greater part of the others, and stops instead (Majority, B18).
	Minority bool
}

// Anomaly reports a message that is malformed or not of this package. The message is a sign of
// life, and changes nothing else.
type Anomaly struct {
	From int
	Text string
}

func (Send) action()    {}
func (Declare) action() {}
func (Suspect) action() {}
func (Fenced) action()  {}
func (Anomaly) action() {}

// Evidence is the reason of a declaration.
type Evidence uint8

// The kinds of Evidence.
const (
	ByExit      Evidence = iota + 1 // the process ended: tombstone or reaping
	BySilence                       // silence through the second check, after silence or a broken connection
	ByNotice                        // a declaration by another process
	ByAgreement                     // a decision of an agreement
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
