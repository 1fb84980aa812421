package repair

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Event is an input of a World.
type Event interface{ isEvent() }

// Begin starts the first attempt of this process; it is the first event, also of a replacement.
type Begin struct{}

// Protect is a call of the program, at most one in an attempt. Its answer is Return.
type Protect struct{}

// Gathered answers Gather. The exchange is not uniform: it may succeed at some members and
// fail at others.
type Gathered struct {
	Reports []Report // by rank; nil if the exchange failed
}

// Restored answers Restore: this process has done its part of the plan, or has failed to.
type Restored struct {
	OK     bool
	Same   bool // Digest is that of the replicated data, as they were restored
	Digest uint64
}

// Commit is a call of the program at a consistent point. Its answer is Return.
type Commit struct {
	Now  bool // also if it is not due; the same at all members
	Stop bool // this process has received a request to stop
	Want int  // the interval that this process requests, in points; 0: none
}

// Copied answers Copy.
type Copied struct {
	Complete bool // this member's part is stored, and so are the copies of others that it keeps
	Same     bool // Digest is that of the replicated data
	Digest   uint64
	Offer    bool // processes that could fill up the world are available
	Files    Files
}

// Files is the state of a member's files of a version. One version is open at a time, from the
// boundary that orders all members to begin (FilesBegin) to the boundary that ends the writing
// (FilesPublish or FilesAbandon), or to the end of the attempt.
type Files int

// The states of files.
const (
	FilesDone    Files = iota // this member's files are written; or no version is open, and none requested
	FilesWriting              // not written yet. Only while a version is open
	FilesFailed               // they cannot be written. Only while a version is open, or in the last Commit
	FilesWanted               // this member requests files of this Commit's version. Only while none is open
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

// Quiet reports that the goroutines started by the body have ended, too. Result is the worst
// result of the body and of these goroutines.
type Quiet struct {
	Result Result
	Text   string // of a fatal error
}

// Shrunk answers Shrink: the survivors, as ranks of the communicator that was shrunk.
type Shrunk struct{ Left rankset.Set }

// Filled answers Replace: the new communicator exists.
type Filled struct{}

// Unfilled answers Replace: there is no new communicator. A member or a replacement has died, a
// member has left, or a process could not be started.
type Unfilled struct{}

// Scarce answers Replace: too few processes are available, or none can be started here, and none
// was started. Granted is the number of available processes; 0 also if the number is not known.
type Scarce struct{ Granted int }

// Told answers Tell with the text of the lowest rank that has one. Rank is -1 if no rank has a
// text or the exchange failed.
type Told struct {
	Rank int
	Text string
}

// Result is the result of a body.
type Result int

// The results, from best to worst.
const (
	Finished Result = iota // the body returned nil
	Again                  // an error that a repair cures, or a request to roll back
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

// Action is a task of the owner of a World. The owner executes the actions in the order of the
// slice.
type Action interface{ isAction() }

// Run calls the body, on the newest communicator.
type Run struct {
	Attempt    int
	Size, Rank int
	Home       int   // the home that this process uses from now on
	Homes      []int // of the ranks
	Lost       []int // ranks whose process is Recovered
	Filled     []int // ranks of Lost that have a new process since the attempt before
	Role       Role  // of this process
}

// Gather requests an exchange of reports among all members of the attempt. This member's report
// contains the fields of Gather. If Committed is not Known, the report has the version that the
// memory names.
type Gather struct {
	Epoch     uint64
	Committed Label
	Known     bool
}

// Restore requests this process's part of a plan. Old copies stay meanwhile.
type Restore struct{ Plan Plan }

// Copy requests that this member's part is stored under a label and sent to its keepers. With
// Check this was done before; the owner only checks whether the version is complete now.
type Copy struct {
	Label Label
	Check bool
	All   bool // at all levels: the last version before a stop
}

// Agree requests an agreement on the communicator of the attempt.
type Agree struct{ Word uint64 }

// Return ends the program's Protect or Commit.
type Return struct {
	Verdict Verdict
	Label   Label // the last committed version, or the one restored; zero: none
	Files   FilesOrder
}

// FilesOrder is the order of a Commit to all members about files.
type FilesOrder int

// The orders.
const (
	FilesAsBefore FilesOrder = iota
	FilesBegin               // write the files of the version that this Commit has committed
	FilesPublish             // all have written the files of the open or the last version: publish it
	FilesAbandon             // some member could not write them: the version will not be published
)

// Keep reports that Oldest is committed: older versions may be deleted. They may not be deleted
// earlier, because a death at any moment requires a whole version. With Config.Verify a newer
// version is committed, too.
type Keep struct{ Oldest Label }

// Settle reports that the restored version is whole in the present layout: copies and parity
// that only an older layout has may be deleted. They may not be deleted earlier, because one
// process may need the old share of parity while another makes its new share.
type Settle struct{ Label Label }

// Drop orders that a version must not be used, although it may be complete.
type Drop struct{ Label Label }

// Cancel ends the context of the attempt.
type Cancel struct{}

// Revoke ends all calls on the communicator of the attempt, at all members.
type Revoke struct{}

// Shrink requests the communicator of the survivors of the newest communicator.
type Shrink struct{}

// Replace requests a communicator of Size ranks. Replacements get the ranks in Ranks; the members
// of the newest communicator get the other ranks in their order. The outcome is uniform.
type Replace struct {
	Ranks    []int
	Size     int
	Handover []byte        // for the replacements: see Adopt
	Wait     mono.Duration // bound on the wait of the member that requests the processes
}

// Tell requests the text of the lowest rank of the newest communicator that has one.
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

// Verdict is the answer of Protect or Commit to the program.
type Verdict int

// The verdicts. All but OK and BadReplica end the attempt.
const (
	OK         Verdict = iota
	OverAgain          // the attempt is over and the body will be called again: it must return
	OverStop           // the last version before a stop is committed: the body must return
	BadReplica         // replicated data differ; nothing was committed
	BadMembers         // ranks protect different data
	BadLost            // versions were committed, and none is whole
	BadPlace           // members are at different places of the program
	BadFiles           // files could not be written, and the program requires them
)

// Outcome is the result of a world. End is the same at all members; the text of Peer may be missing
// at some of them.
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
	Stopped                  // by request, after a last commit
	TooFew                   // no process for a rank, and no smaller world is allowed
	NoProgress               // too many losses of one rank, or too many repairs
	Misplaced                // members were at different places of the program
)

// String returns the ending as a word.
func (e Ending) String() string {
	return []string{"done", "peer", "stopped", "too few", "no progress", "misplaced"}[e]
}
