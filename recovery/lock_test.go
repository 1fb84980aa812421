package recovery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/recovery"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// TestOneJobAtATime: while a job writes to a folder, another job of the same name fails at its
// start, with the process that holds the lock in the error. That holds even when all processes that
// had taken the lock first are dead. Later the second job continues from the versions of the first.
func TestOneJobAtATime(t *testing.T) {
	if testing.Short() {
		t.Skip("the second job waits for the first one for some seconds")
	}
	want := undisturbed(t)
	for i, kills := range [][]commtest.Killed{nil, {{Rank: 0, Mark: "step", At: 7}}, {{Rank: 0, Mark: "step", At: 7}, {Rank: 1, Mark: "step", At: 9}}} {
		if !longtest.Row(i, 3) {
			continue
		}
		dir := filepath.Join(t.TempDir(), "dir")
		first := awaited(dir)
		first.atEnd = func() {
			second := awaited(dir)
			for _, err := range second.run(t, commtest.Job{N: 2}) {
				assert.ErrorIs(t, err, recovery.ErrInUse)
				assert.ErrorContains(t, err, fmt.Sprintf("versions of \"field\" in the store are written by process %d on host", os.Getpid()))
			}
			assert.Empty(t, second.sums)
		}
		for _, err := range first.run(t, commtest.Job{N: 2, Kills: kills}) {
			assert.True(t, err == nil || errors.Is(err, comm.ErrFenced), "%v: %v", kills, err)
		}
		assert.Equal(t, want, first.sums, "%v", kills)

		third := awaited(dir)
		for _, err := range third.run(t, commtest.Job{N: 2}) {
			assert.NoError(t, err)
		}
		assert.Equal(t, want, third.sums)
		assert.Contains(t, third.log.String(), "msg=restored ranks=2 from=files version=field-")
	}
}

// TestOtherArguments: a version of a problem with other arguments is not restored except on
// request; a version without noted arguments is.
func TestOtherArguments(t *testing.T) {
	dir := stopped(t)
	name := versions(t, dir)[0].Name()
	job := func(told string, arguments ...string) (*field, error) {
		t.Setenv(recovery.RestartVariable, told)
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		require.NoError(t, os.Chmod(copied, 0o700))
		f := awaited(copied)
		f.cfg.Files.Arguments = arguments
		return f, errors.Join(f.run(t, commtest.Job{N: 3})...)
	}
	f, err := job("", "-other")
	assert.ErrorIs(t, err, recovery.ErrArguments)
	assert.ErrorContains(t, err, name+" in the store (GOULFM_RESTART="+name+" goes on from it all the same")
	assert.Empty(t, f.sums)
	want := undisturbed(t)
	for _, told := range []string{name, "latest", "none"} {
		f, err = job(told, "-other")
		assert.NoError(t, err, told)
		assert.Equal(t, want, f.sums, told)
	}

	path := filepath.Join(dir, name, ckptfile.ManifestName)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	m, err := ckptfile.DecodeManifest(b)
	require.NoError(t, err)
	assert.NotEmpty(t, m.Arguments)
	m.Arguments = ""
	b, err = m.Encode()
	require.NoError(t, err)
	assert.False(t, bytes.Contains(b, []byte("arguments")), "as it was written before")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	f, err = job("", "-other")
	assert.NoError(t, err)
	assert.Equal(t, want, f.sums)
	assert.Contains(t, f.log.String(), "msg=restored ranks=3 from=files version="+name)
}

// TestArgumentsAreApart: the boundaries between arguments count.
func TestArgumentsAreApart(t *testing.T) {
	seen := map[string]bool{}
	for _, args := range [][]string{nil, {""}, {"a"}, {"a", "b"}, {"ab"}, {"", "ab"}, {"b", "a"}} {
		seen[recovery.Digest(args)] = true
	}
	assert.Len(t, seen, 7)
}

// TestLock: processes of one job share the lock of a name; another job gets the lock when the last
// of them has released it.
func TestLock(t *testing.T) {
	dir := checkpoint.Dir(filepath.Join(t.TempDir(), "new")).(checkpoint.Locker)
	a, b := checkpoint.Owner{ID: "a", Host: "here", PID: 7}, checkpoint.Owner{ID: "b", Host: "there", PID: 8}
	one, err := dir.Lock(t.Context(), "heat", a)
	require.NoError(t, err)
	two, err := dir.Lock(t.Context(), "heat", checkpoint.Owner{ID: "a", Host: "there", PID: 9})
	require.NoError(t, err)
	other, err := dir.Lock(t.Context(), "train", b)
	require.NoError(t, err, "another name")
	other()
	for _, release := range []func(){one, two} {
		_, err = dir.Lock(t.Context(), "heat", b)
		locked, is := errors.AsType[*checkpoint.LockedError](err)
		require.True(t, is, "%v", err)
		assert.Equal(t, a, locked.Owner, "who was first")
		release()
	}
	one, err = dir.Lock(t.Context(), "heat", b)
	require.NoError(t, err)
	_, err = dir.Lock(t.Context(), "heat", a)
	assert.ErrorContains(t, err, `versions of "heat" are written by process 8 on host there (job b)`)
	one()
	items, err := dir.(checkpoint.Store).List(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, items, "it is no file of the store")
	_, err = dir.Lock(t.Context(), "../x", a)
	assert.ErrorIs(t, err, checkpoint.ErrKey)
}

// locks is a store that notes the job under which its lock was taken.
type locks struct {
	checkpoint.Store
	mu   sync.Mutex
	jobs []string
}

// Lock notes the job.
func (l *locks) Lock(ctx context.Context, name string, o checkpoint.Owner) (release func(), err error) {
	release, err = l.Store.(checkpoint.Locker).Lock(ctx, name, o)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.jobs = append(l.jobs, o.ID)
	}
	return release, err
}

// TestAllRanksHoldTheLock: all ranks hold the lock, since rank 0 may die, and a new process holds
// the lock as the job that the process belongs to.
func TestAllRanksHoldTheLock(t *testing.T) {
	f := awaited("")
	l := &locks{Store: checkpoint.Dir(filepath.Join(t.TempDir(), "dir"))}
	f.cfg.Files.Store = l
	for _, err := range f.run(t, commtest.Job{N: 3, Kills: []commtest.Killed{{Rank: 0, Mark: "step", At: 7}}}) {
		assert.True(t, err == nil || errors.Is(err, comm.ErrFenced), "%v", err)
	}
	require.Len(t, l.jobs, 4, "three ranks, and a new one")
	for _, job := range l.jobs {
		assert.Equal(t, l.jobs[0], job)
	}
}
