package recovery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/goulfm/goulfm/comm"
)

// A Body is the program between two deaths. Each repair calls the body again at all ranks with
// another World. ctx ends with the attempt; its cause gives the reason.
type Body func(ctx context.Context, w *World) error

// A Config configures Run and Main. All ranks must pass the same Config. Its zero value is the
// default for each field.
type Config struct {
	// Copies is the number of other processes that keep a copy of a rank's data. Default 1.
	Copies int
	// Erasure, if its Parity is not zero, replaces copies by parity. Parity takes less memory and
	// makes a restore slower.
	Erasure Erasure
	// NodeMemory is the use of memory that outlives processes, if the job has such memory: each
	// node keeps there the data that its ranks protect, for their replacements.
	NodeMemory NodeMemory
	// MemoryMax bounds the node memory of a rank, in bytes. A commit above this bound returns
	// ErrMemory with the sizes. 0: no bound.
	MemoryMax int64
	// Every makes each Every-th call of Commit copy the data; the other calls only count. 0: the
	// interval follows from the cost of a commit and the failures seen so far (Young 1974, Daly
	// 2006).
	Every int
	// MTBF is the initial mean time between failures for that computation. Default one hour.
	MTBF time.Duration
	// Verify is for tests: a repair restores one version earlier than necessary, and the data that
	// the program computes again are compared with those of its first computation. ErrReplay
	// reports a difference. Every defaults to 1 with Verify.
	Verify bool
	// Shortage is the policy for a repair that has too few processes to replace the dead.
	Shortage Shortage
	// Wait bounds the time that the policy [ShortageWait] waits for processes. 0: no wait.
	Wait time.Duration
	// Tries ends a program that loses one rank Tries times without a new commit in between: the
	// rank would be lost again. Default 5.
	Tries int
	// Files is the place for versions that outlive the job.
	Files Files
	// Comm configures how the process joins its job. Only Main uses it.
	Comm comm.Config
	// Before is called at the surviving ranks when an attempt other than the last has ended, with
	// the error of the body. Before makes no calls to other ranks.
	Before func(w *World, err error)
	// Log receives a record for each repair ("repaired"), for a start from files ("restored"), and
	// for each version in files or in node memory that could not be written or restored. The
	// message is the name of the event, and the attributes are its values. nil: lines on stderr. A
	// panic of the body is printed on stderr in any case.
	Log *slog.Logger
}

// Erasure divides the ranks into groups of Data + Parity ranks, on different nodes if there are
// enough nodes. Any Parity ranks of a group may be lost. Each rank keeps Parity/Data of the size of
// its protected data, instead of the whole size for each copy.
type Erasure struct{ Data, Parity int }

// NodeMemory is the use of memory that outlives processes.
type NodeMemory int

// The uses of node memory.
const (
	// NodeMemoryWithoutCopies uses node memory instead of copies and parity as long as all ranks
	// are on one node that has node memory: such memory survives the loss of any processes.
	// Otherwise node memory is used in addition to copies, which survive the loss of a node.
	NodeMemoryWithoutCopies NodeMemory = iota
	NodeMemoryWithCopies               // always in addition to copies
	NodeMemoryOff                      // node memory is not used
)

// Shortage is the policy for a repair that has too few processes to replace the dead.
type Shortage int

// The policies.
const (
	ShortageStop   Shortage = iota // Run returns ErrTooFew
	ShortageShrink                 // the program continues with fewer ranks
	ShortageWait                   // rank 0 repeats its request for up to Config.Wait, then as ShortageStop
)

// The classes of errors that end a program or an attempt. Run wraps them in text, and returns the
// same class at all living ranks. A call of a World may return ErrMember, ErrReplay, ErrMemory,
// ErrFiles, ErrInUse or ErrArguments at one rank alone: the attempt then ends at the others.
var (
	// ErrTooFew: processes have died and cannot be replaced.
	ErrTooFew = errors.New("too few processes")
	// ErrNoProgress: a rank was lost repeatedly without a new commit in between.
	ErrNoProgress = errors.New("no progress between failures")
	// ErrLost: data were committed, and after the deaths no version is complete.
	ErrLost = errors.New("committed data are lost")
	// ErrReplica: data declared Same differ between ranks. Nothing was committed; a body that
	// returns this error restarts from the last version.
	ErrReplica = errors.New("replicas differ")
	// ErrReplay: Config.Verify has found that a rank does not compute the same data again.
	ErrReplay = errors.New("a replay differs")
	// ErrMember: ranks protect different members, or a member of a type that cannot be protected.
	ErrMember = errors.New("bad member")
	// ErrPeer: the body of a rank has returned an error that no repair cures, or panicked.
	ErrPeer = errors.New("a rank has failed for good")
	// ErrStopped: the context of Run has ended, and all ranks have stopped after a last commit.
	ErrStopped = errors.New("stopped after a last commit")
	// ErrFiles: checkpoints could not be written and Files.Must is set; or checkpoints could not be
	// listed at the start of a job.
	ErrFiles = errors.New("checkpoints cannot be written")
	// ErrInUse: another job writes versions of the same name into the same folder or store.
	ErrInUse = errors.New("checkpoints are in use")
	// ErrArguments: the newest version in files was written with other arguments (Files.Arguments).
	ErrArguments = errors.New("checkpoints are of other arguments")
	// ErrMemory: the protected data of a rank do not fit into Config.MemoryMax, or into the memory
	// of its node.
	ErrMemory = errors.New("node memory cannot be had")
	// ErrPlace: ranks are at different places of the program: one has finished or is in Protect,
	// and another is in Commit.
	ErrPlace = errors.New("ranks are at different places of the program")
)

// errRollback is the error that Rollback wraps.
var errRollback = errors.New("rollback")

// errOver ends a body whose attempt is over.
var errOver = errors.New("the attempt is over")
