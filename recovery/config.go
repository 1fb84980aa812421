package recovery

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/goulfm/goulfm/comm"
)

// A Body is the program between two deaths. It is called at all ranks, again after each
// repair, each time with another World. ctx ends with the attempt; its cause says why.
type Body func(ctx context.Context, w *World) error

// Config is the same at all ranks. Its zero value is the default for each field.
type Config struct {
	// Copies is how many other processes keep a copy of a rank's data. Default 1.
	Copies int
	// Erasure, if it has parity, is instead of copies: cheaper in memory, dearer at a loss.
	Erasure Erasure
	// NodeMemory says what becomes of memory that outlives processes, where the job has some: each
	// node keeps there what its ranks protect, for those who replace them.
	NodeMemory NodeMemory
	// MemoryMax bounds what a rank may keep there, in bytes. A commit that takes more is ErrMemory,
	// which names the sizes. 0: no bound.
	MemoryMax int64
	// Every says that each Every-th Commit commits; the others count. Default 0: as often as
	// the costs of a commit and the failures seen so far advise (Young 1974, Daly 2006).
	Every int
	// MTBF is the mean time between failures to begin with, for that advice. Default one hour.
	MTBF time.Duration
	// Verify is for tests: a repair goes back one version more than it must, and what the program
	// makes again is compared with what it had made. A difference is ErrReplay. Every is 1 then,
	// unless it is given.
	Verify bool
	// Short says what happens when there are too few processes to replace the dead.
	Short Short
	// Wait is how long ShortWait waits.
	Wait time.Duration
	// Tries ends a program that loses one rank so often without a new commit between: it
	// will be lost again. Default 5.
	Tries int
	// Files says where versions are written that outlive the job.
	Files Files
	// Comm is for Main: how the process takes part.
	Comm comm.Config
	// Before is called at the ranks that are left when an attempt has ended that is not the
	// last one, with what the body has returned. It makes no calls to other ranks.
	Before func(w *World, err error)
	// Log is where repairs are told of, a line each. nil: on stderr.
	Log io.Writer
}

// Erasure says that ranks are in groups of Data + Parity, on different nodes where there are so
// many. Any Parity ranks of a group may be lost. Each keeps Parity/Data of what it protects,
// instead of all of it for each copy.
type Erasure struct{ Data, Parity int }

// NodeMemory is what becomes of memory that outlives processes.
type NodeMemory int

// The uses of node memory.
const (
	// WithoutCopies has it instead of copies and parity as long as all ranks are on one node that
	// has it, which survives the loss of any processes; else beside them, as they survive the loss
	// of a node.
	WithoutCopies NodeMemory = iota
	WithCopies               // always beside them
	Unused
)

// Short is what happens when there are too few processes.
type Short int

// The policies.
const (
	Stop   Short = iota // Run returns ErrTooFew
	Shrink              // the attempt goes on with fewer ranks
	Wait                // rank 0 asks again for as long as Config.Wait says, then as Stop
)

// The errors of a world, at all ranks alike, but for ErrMember. Run wraps them in text.
var (
	// ErrTooFew: processes have died and cannot be replaced.
	ErrTooFew = errors.New("too few processes")
	// ErrNoProgress: a rank was lost again and again before anything new was committed.
	ErrNoProgress = errors.New("no progress between failures")
	// ErrLost: something was committed, and so many have died that no version is whole.
	ErrLost = errors.New("committed data are lost")
	// ErrReplica: data that are the Same at all ranks are not. Nothing was committed; a body
	// that returns the error goes back to the last version.
	ErrReplica = errors.New("replicas differ")
	// ErrReplay: Config.Verify has found that a rank does not make the same data again.
	ErrReplay = errors.New("a replay differs")
	// ErrMember: ranks protect different things, or what cannot be protected.
	ErrMember = errors.New("bad member")
	// ErrPeer: the body of a rank has returned an error that no repair cures, or panicked.
	ErrPeer = errors.New("a rank has failed for good")
	// ErrStopped: the context of Run has ended, and after a last commit all ranks have.
	ErrStopped = errors.New("stopped after a last commit")
	// ErrFiles: checkpoints could not be written, and Files.Must says that they must; or, at the
	// start of a job, not be looked at.
	ErrFiles = errors.New("checkpoints cannot be written")
	// ErrInUse: another job writes versions of the same name into the same folder or store.
	ErrInUse = errors.New("checkpoints are in use")
	// ErrArguments: the newest version in files was written with other arguments.
	ErrArguments = errors.New("checkpoints are of other arguments")
	// ErrMemory: what a rank protects does not fit into Config.MemoryMax, or into the memory of its
	// node.
	ErrMemory = errors.New("node memory cannot be had")
	// ErrPlace: ranks are at different places of the program: one has finished, or is in
	// Protect, and another one is in Commit.
	ErrPlace = errors.New("ranks are at different places of the program")
)

// errRollback is what Rollback says.
var errRollback = errors.New("rollback")

// errOver ends a body whose attempt is over.
var errOver = errors.New("the attempt is over")
