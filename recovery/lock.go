package recovery

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// One job at a time writes the versions of a name. Each of its processes holds the lock, so the job
// holds the lock until its last process has ended. The first process at rank 0 makes up the name of
// the job before it lists versions; the others learn the name from the reports:
//
//	rank 0      takes the lock as job A, lists versions                             report: job A
//	others                                        learn that this is job A, and join
//	rank 0      dies; a new process there does not know the name of the job,
//	            and is refused: job A has the lock
//	            the report of another rank says that this is job A
//
// In a store without locks, only their arguments keep two jobs apart: see digest.

// A claim is the state of the lock at one process.
type claim struct {
	job     string            // the name of this job in the lock; "": not known yet
	locked  *checkpoint.Owner // another owner, as rank 0 has found before the reports; or nil
	release func()            // nil: the lock is not held
}

// claimWait bounds the time for which the first process of a job waits until another job releases
// the lock. The ranks of a job whose launcher was killed end a moment later, and a job may be
// started anew at once.
const (
	claimWait  = 3 * time.Second
	claimAgain = 10 * time.Millisecond
)

// claimFiles takes the lock at rank 0, unless it is held, before versions are listed.
func (r *runner) claimFiles() error {
	f := r.files
	locker, ok := f.store.(checkpoint.Locker)
	if !ok || f.claim.release != nil {
		return nil
	}
	job := f.claim.job
	if job == "" {
		job = rand.Text()
	}
	for begun := time.Now(); ; {
		err := f.take(r.ctx, locker, job)
		locked, is := errors.AsType[*checkpoint.LockedError](err)
		switch {
		case !is:
			return err
		case r.joined || time.Since(begun) > claimWait:
			f.claim.locked = &locked.Owner
			return nil // the owner may be this job
		}
		select {
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case <-time.After(claimAgain):
		}
	}
}

// take takes the lock as a job, or joins that job. On a file system without locks take succeeds
// without one.
func (f *files) take(ctx context.Context, locker checkpoint.Locker, job string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	release, err := locker.Lock(context.WithoutCancel(ctx), f.cfg.Job, checkpoint.Owner{ID: job, Host: host, PID: os.Getpid()})
	switch {
	case err == nil:
		f.claim = claim{job: job, release: release}
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS):
		f.claim = claim{job: job, release: func() {}}
		return nil
	}
	return err
}

// joinFiles takes the lock at this process as its job does, once the reports have named the job.
func (r *runner) joinFiles(all []report) error {
	f := r.files
	locker, ok := f.store.(checkpoint.Locker)
	if !ok {
		return nil
	}
	job := ""
	for _, t := range all {
		if job = t.Job; job != "" {
			break
		}
	}
	if locked := f.claim.locked; locked != nil && locked.ID != job {
		return f.inUse(*locked)
	}
	f.claim.locked = nil
	if job == "" || job == f.claim.job && f.claim.release != nil {
		return nil
	}
	f.unclaim()
	err := f.take(r.ctx, locker, job)
	if locked, is := errors.AsType[*checkpoint.LockedError](err); is {
		return f.inUse(locked.Owner)
	}
	return err
}

// inUse is the error of a job when another job holds the lock.
func (f *files) inUse(o checkpoint.Owner) error {
	return fmt.Errorf("%w: versions of %q in %s are written by process %d on host %s (job %s): wait until it has ended, or name another folder or Files.Job",
		ErrInUse, f.cfg.Job, f.where, o.PID, o.Host, o.ID)
}

func (f *files) unclaim() {
	if f.claim.release != nil {
		f.claim.release()
	}
	f.claim = claim{}
}

// digest identifies the arguments with which a job computes: a version with other arguments is of
// another problem.
func digest(args []string) string {
	var b []byte
	for _, a := range args {
		b = wire.AppendBytes(b, []byte(a))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// fitsArguments reports whether a version was written with the arguments of this job. Old versions
// without a digest fit all arguments.
func (f *files) fitsArguments(v checkpoint.Version) bool {
	return v.Arguments == "" || v.Arguments == digest(f.cfg.Arguments)
}

// otherArguments is the error of a job whose newest version has other arguments.
func (f *files) otherArguments(v checkpoint.Version) error {
	return fmt.Errorf("%w: %s in %s (%s=%s goes on from it all the same, %s=none starts anew)", ErrArguments, v.Name(), f.where, RestartVariable, v.Name(), RestartVariable)
}
