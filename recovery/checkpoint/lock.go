package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
)

// Owner is the job that holds the lock of a name. ID distinguishes jobs; all processes of one job
// have the same ID.
type Owner struct {
	ID   string `json:"id"`
	Host string `json:"host"` // of the first process of the job that took the lock
	PID  int    `json:"pid"`  // of that process
}

// Locker is implemented by a Store that lets only one job at a time write the versions of a name.
type Locker interface {
	// Lock takes the lock of a name for a job, or joins processes of that job which hold the lock.
	// While another job holds the lock the error is a *LockedError. release releases the lock; so
	// does the end of the process, however the process ends.
	Lock(ctx context.Context, name string, o Owner) (release func(), err error)
}

// LockedError means that another job holds the lock of a name.
type LockedError struct {
	Name  string
	Owner Owner
}

// Error names the job.
func (e *LockedError) Error() string {
	return fmt.Sprintf("versions of %q are written by process %d on host %s (job %s)", e.Name, e.Owner.PID, e.Owner.Host, e.Owner.ID)
}

// lockPause is the interval at which Lock tries again while another process writes the record of
// the owner.
const lockPause = time.Millisecond

// Lock uses flock, which the kernel releases with the process. All processes of a job hold the lock
// shared, so a live job holds the lock whichever of its processes die. The exclusive lock proves
// that there is no holder; its holder may write the record:
//
//	first process      exclusive: yes    writes the record "A"    shared
//	others of job A    exclusive: no     shared: reads "A"        stays
//	job B              exclusive: no     shared: reads "A"        lets go, LockedError
//
// Between hosts the lock needs a file system whose flock covers all of them, as that of NFS and of
// Lustre with -o flock does.
func (d dir) Lock(ctx context.Context, name string, o Owner) (release func(), err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	if err := errors.Join(CheckKey(name), ckptfile.CheckFolder(string(d))); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(string(d), "."+name+".lock"), os.O_RDWR|os.O_CREATE, 0o600) // no key names this file
	if err != nil {
		return nil, err
	}
	for {
		held, err := hold(f, o)
		switch {
		case err != nil:
			return nil, errors.Join(err, f.Close())
		case held.ID == o.ID:
			return func() { _ = f.Close() }, nil // no data were written that a Close could lose
		case held.ID != "":
			return nil, errors.Join(&LockedError{name, held}, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-time.After(lockPause):
		}
	}
}

// hold takes the shared lock of a file and returns its owner. If the owner is not o the lock is
// released. The zero Owner: some process is about to write the record.
func hold(f *os.File, o Owner) (held Owner, err error) {
	switch err := flock(f, syscall.LOCK_EX); {
	case err == nil:
		if err := record(f, o); err != nil {
			return Owner{}, err
		}
	case !errors.Is(err, syscall.EWOULDBLOCK):
		return Owner{}, err
	}
	// If this process has the exclusive lock the kernel releases that lock first, and another
	// process may intervene: hence the record is read.
	switch err := flock(f, syscall.LOCK_SH); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return Owner{}, nil
	case err != nil:
		return Owner{}, err
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, recordMax))
	if err != nil {
		return Owner{}, err
	}
	if json.Unmarshal(text, &held) != nil { // the writer died before completing the record, so no process holds the lock for long
		held = Owner{}
	}
	if held.ID != o.ID {
		return held, flock(f, syscall.LOCK_UN)
	}
	return held, nil
}

// recordMax bounds the record of an owner.
const recordMax = 4096

func record(f *os.File, o Owner) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), 0)
	return err
}

// flock does not wait.
func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
