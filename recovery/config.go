package recovery

import (
	"context"
	"errors"
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
	// Every says that each Every-th Commit commits; the others count. Default 0: as often as
	// the costs of a commit and the failures seen so far advise (Young 1974, Daly 2006).
	Every int
	// MTBF is the mean time between failures to begin with, for that advice. Default one hour.
	MTBF time.Duration
	// Short says what happens when there are too few processes to replace the dead.
	Short Short
	// Wait is how long ShortWait waits.
	Wait time.Duration
	// Tries ends a program that loses one rank so often without a new commit between: it
	// will be lost again. Default 5.
	Tries int
	// Comm is for Main: how the process takes part.
	Comm comm.Config
	// Before is called at the ranks that are left when an attempt has ended that is not the
	// last one, with what the body has returned. It makes no calls to other ranks.
	Before func(w *World, err error)
	// Quiet says that rank 0 tells nothing of repairs on stderr.
	Quiet bool
}

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
	// ErrMember: ranks protect different things, or what cannot be protected.
	ErrMember = errors.New("bad member")
	// ErrPeer: the body of a rank has returned an error that no repair cures, or panicked.
	ErrPeer = errors.New("a rank has failed for good")
	// ErrStopped: the context of Run has ended, and after a last commit all ranks have.
	ErrStopped = errors.New("stopped after a last commit")
	// ErrPlace: ranks are at different places of the program: one has finished, or is in
	// Protect, and another one is in Commit.
	ErrPlace = errors.New("ranks are at different places of the program")
)

// errRollback is what Rollback says.
var errRollback = errors.New("rollback")

// errOver ends a body whose attempt is over.
var errOver = errors.New("the attempt is over")
