package repair

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Event is what may happen to a World.
type Event interface{ isEvent() }

// Begin starts the first attempt of this process; it is the first event, also of a replacement.
type Begin struct{}

// Protect is the program's call, at most one in an attempt. It returns with Return.
type Protect struct{}

// Gathered answers Gather. The exchange is not uniform: it may succeed at some members and
// fail at others.
type Gathered struct {
	Reports []Report // by rank; nil if the exchange failed
}

// Restored answers Restore: this process has done its part of the plan, or could not.
type Restored struct {
	OK     bool
	Same   bool // Digest is that of the members that are equal at all ranks, as they were restored
	Digest uint64
}

// Commit is the program's call at a consistent point. It returns with Return.
type Commit struct {
	Now  bool // also if it is not due; the same at all members
	Stop bool // this process was asked to stop
	Want int  // the interval that this process wants, in points; 0: none requested
}

// Copied answers Copy.
type Copied struct {
	Complete bool // this member's part is stored, and so are the copies of others that it keeps
	Same     bool // Digest is that of the members that are equal at all ranks
	Digest   uint64
	Offer    bool // processes to fill the world up are there
	Files    Files
}

// Files says how far a member is with the files of a version. One version is open at a time, from
// the boundary that tells all to begin (FilesBegin) to the one that tells what came of it
// (FilesPublish or FilesAbandon), or to the end of the attempt.
type Files int

// What a member can say.
const (
	FilesDone    Files = iota // mine are written; or none is open, and I want none
	FilesWriting              // not yet. Only while a version is open
	FilesFailed               // they cannot be written. Only while a version is open, or in the last Commit
	FilesWanted               // I want files of the version of this Commit. Only while none is open
)

// Decided answers Agree: the AND of the words, and the deaths that were agreed, by rank.
type Decided struct {
	Word uint64
	Dead rankset.Set
}

// Revoked reports that the communicator of the attempt is revoked: a member has died, has returned
// from its body before it had finished, or could not do its part of a Copy or a Restore. Revoked
// may come in any state.
type Revoked struct{}

// Returned reports that the body has returned.
type Returned struct{ Result Result }

// Quiet says that also the goroutines that the body had started have ended, and what came
// of the whole: the worst of all.
type Quiet struct {
	Result Result
	Text   string // of a fatal error
}

// Shrunk answers Shrink: who is left, as ranks of the communicator that was shrunk.
type Shrunk struct{ Left rankset.Set }

// Filled answers Replace: the new communicator is made.
type Filled struct{}

// Unfilled answers Replace: there is no new communicator. A member or a replacement has died, a
// member has left, or a process could not be started.
type Unfilled struct{}

// Scarce answers Replace: there are too few processes, or none can be started here, and none was
// started. Granted is how many could be had; 0 also if that is not known.
type Scarce struct{ Granted int }

// Told answers Tell: the text of the lowest rank that had one; Rank is -1 if there was
// none or the exchange failed.
type Told struct {
	Rank int
	Text string
}

// Result is what came of a body.
type Result int

// The results, from best to worst.
const (
	Finished Result = iota // it returned nil
	Again                  // an error that a repair cures, or a wish to go back
	Fatal                  // any other error
)

func (Begin) isEvent()    {}
func (Protect) isEvent()  {}
func (Gathered) isEvent() {}
func (Restored) isEvent() {}
func (Commit) isEvent()   {}
func (Copied) isEvent()   {}
func (Decided) isEvent()  {}
func (Revoked) isEvent()  {}
func (Returned) isEvent() {}
func (Quiet) isEvent()    {}
func (Shrunk) isEvent()   {}
func (Filled) isEvent()   {}
func (Unfilled) isEvent() {}
func (Scarce) isEvent()   {}
func (Told) isEvent()     {}

// Action is what the owner of a World must do, in the order of the slice.
type Action interface{ isAction() }

// Run calls the body, on the newest communicator.
type Run struct {
	Attempt    int
	Size, Rank int
	Home       int   // whose memory this process goes on with
	Homes      []int // of the ranks
	Lost       []int // ranks whose process is Recovered
	Filled     []int // those of them that have a new process since the attempt before
	Role       Role  // of this process
}

// Gather asks all members of the attempt for their reports; what is in it belongs into
// this one's. Unless Committed is Known the report has what the memory says.
type Gather struct {
	Epoch     uint64
	Committed Label
	Known     bool
}

// Restore asks to do this process's part of a plan: old copies stay meanwhile.
type Restore struct{ Plan Plan }

// Copy asks to store this member's part under a label, and to send it to its keepers. With
// Check that was done already: the question is whether it is complete by now.
type Copy struct {
	Label Label
	Check bool
	All   bool // at all levels: the last version before a stop
}

// Agree asks for an agreement on the communicator of the attempt.
type Agree struct{ Word uint64 }

// Return ends the program's Protect or Commit.
type Return struct {
	Verdict Verdict
	Label   Label // the last committed version, or the one restored; zero: none
	Files   FilesOrder
}

// FilesOrder is what a Commit tells all members about files.
type FilesOrder int

// The orders.
const (
	FilesAsBefore FilesOrder = iota
	FilesBegin               // write those of the version that this Commit has committed
	FilesPublish             // all have written those of the open or the last version: publish it
	FilesAbandon             // some could not: it will not be
)

// Keep says that Oldest is committed: what is older may go. Not before: a death at any
// moment needs a whole version. With Config.Verify a newer version is committed, too.
type Keep struct{ Oldest Label }

// Settle says that the restored version is whole in the present layout: copies and parity
// that only an older layout has may go. Not before: while one process makes its new share
// of parity, another may still need the old one.
type Settle struct{ Label Label }

// Drop says that a version must not be used, although it may be complete.
type Drop struct{ Label Label }

// Cancel ends the context of the attempt.
type Cancel struct{}

// Revoke ends all calls on the communicator of the attempt, at all members.
type Revoke struct{}

// Shrink asks for the communicator of those who are left of the newest one.
type Shrink struct{}

// Replace asks for a communicator of Size ranks: replacements get the ranks in Ranks, the
// members of the newest communicator the others in their order. It is uniform.
type Replace struct {
	Ranks    []int
	Size     int
	Handover []byte        // for the replacements: see Adopt
	Wait     mono.Duration // how long whoever asks for the processes may wait for them
}

// Tell asks for the text of the lowest rank of the newest communicator that has one.
type Tell struct{ Text string }

// End is the last action.
type End struct{ Outcome Outcome }

func (Run) isAction()     {}
func (Gather) isAction()  {}
func (Restore) isAction() {}
func (Copy) isAction()    {}
func (Agree) isAction()   {}
func (Return) isAction()  {}
func (Keep) isAction()    {}
func (Settle) isAction()  {}
func (Drop) isAction()    {}
func (Cancel) isAction()  {}
func (Revoke) isAction()  {}
func (Shrink) isAction()  {}
func (Replace) isAction() {}
func (Tell) isAction()    {}
func (End) isAction()     {}

// Verdict is what Protect or Commit tells the program.
type Verdict int

// The verdicts. All but OK and BadReplica end the attempt.
const (
	OK         Verdict = iota
	OverAgain          // the attempt is over and the body will be called again: it has to return
	OverStop           // the last version before a stop is committed: the body has to return
	BadReplica         // what should be equal at all ranks is not; nothing was committed
	BadMembers         // ranks protect different things
	BadLost            // there were versions, and none is whole
	BadPlace           // members are at different places of the program
	BadFiles           // files could not be written, and the program must have them
)

// Outcome is how a world ends, the same at all members.
type Outcome struct {
	End  Ending
	Rank int    // Peer: the lowest rank with a text; -1: none arrived
	Text string // Peer: of that rank
}

// Ending is the kind of an Outcome.
type Ending int

// The endings.
const (
	Done       Ending = iota // all bodies have returned nil
	Peer                     // a body had an error that no repair cures
	Stopped                  // asked to stop, after a last commit
	TooFew                   // no process for a rank, and no smaller world is allowed
	NoProgress               // too many losses of one rank, or too many repairs
	Misplaced                // members were at different places of the program
)

// String returns the ending as a word.
func (e Ending) String() string {
	return []string{"done", "peer", "stopped", "too few", "no progress", "misplaced"}[e]
}
