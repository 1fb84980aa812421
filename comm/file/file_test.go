package file_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/comm/file"
)

const readWrite = os.O_RDWR | os.O_CREATE | os.O_TRUNC

// TestWriteAndRead writes parts of different lengths, some of them empty, by one division into
// blocks, and reads them by another. The earlier content of the file is removed.
func TestWriteAndRead(t *testing.T) {
	const things = 10
	for _, n := range []int{1, 3, 12} {
		name := filepath.Join(t.TempDir(), "all.bin")
		assert.NoError(t, os.WriteFile(name, make([]byte, 1000), 0o666))
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			f, err := file.OpenAll(ctx, w, name, readWrite, 0o600)
			if !assert.NoError(t, err) {
				return
			}
			lo, hi := comm.Block(things, n, w.Rank())
			part := []int32{}
			for i := lo; i < hi; i++ {
				part = append(part, int32(i*i))
			}
			assert.NoError(t, file.WriteAtAll(ctx, w, f, part, int64(4*lo)))
			lo, hi = comm.Block(things, n, n-1-w.Rank())
			got := make([]int32, hi-lo)
			assert.NoError(t, file.ReadAtAll(ctx, w, f, got, int64(4*lo)))
			for i, v := range got {
				assert.Equal(t, int32((lo+i)*(lo+i)), v)
			}
			assert.NoError(t, file.SyncAll(ctx, w, f))
			assert.NoError(t, file.CloseAll(ctx, w, f))
			assert.ErrorIs(t, f.Close(), os.ErrClosed)
		})
		stat, err := os.Stat(name)
		assert.NoError(t, err)
		assert.Equal(t, int64(4*things), stat.Size(), "it was truncated, once")
	}
}

// TestOnlyRankZeroCreates: with O_EXCL no other member fails on the file that rank 0 has made.
func TestOnlyRankZeroCreates(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new")
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		f, err := file.OpenAll(ctx, w, name, readWrite|os.O_EXCL, 0o600)
		assert.NoError(t, err)
		assert.NoError(t, file.CloseAll(ctx, w, f))
		f, err = file.OpenAll(ctx, w, name, readWrite|os.O_EXCL, 0o600)
		wantAll(t, err, fs.ErrExist, "open_all", 0)
		assert.Nil(t, f)
	})
}

// wantAll checks the error that every member gets.
func wantAll(t *testing.T, err, class error, op string, ranks ...int) {
	t.Helper()
	var e *comm.Error
	if assert.ErrorIs(t, err, class) && assert.ErrorAs(t, err, &e) {
		assert.Equal(t, op, e.Op)
		assert.Equal(t, "world", e.Comm)
		assert.Equal(t, ranks, e.Ranks)
	}
}

// TestOneErrorForAll: one rank, or two in different ways, fails in its part. All members get one
// class, and the ranks; the next call is independent of the failed one.
func TestOneErrorForAll(t *testing.T) {
	other := errors.New("none of package file")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err == nil {
		defer full.Close()
	}
	for _, c := range []struct {
		name  string
		op    string
		do    func(ctx context.Context, w *comm.Comm, f, other *os.File) error
		class error
		ranks []int
	}{
		{"the end of the file", "read_at_all", func(ctx context.Context, w *comm.Comm, f, _ *os.File) error {
			return file.ReadAtAll(ctx, w, f, make([]byte, 3), int64(w.Rank())) // of 4 bytes
		}, io.ErrUnexpectedEOF, []int{2}},
		{"no file", "write_at_all", func(ctx context.Context, w *comm.Comm, f, _ *os.File) error {
			return file.WriteAtAll(ctx, w, pick(w.Rank() == 1, nil, f), []byte{1}, 0)
		}, fs.ErrInvalid, []int{1}},
		{"a closed file", "sync_all", func(ctx context.Context, w *comm.Comm, f, closed *os.File) error {
			assert.NoError(t, closed.Close())
			return file.SyncAll(ctx, w, pick(w.Rank() == 0, closed, f))
		}, fs.ErrClosed, []int{0}},
		{"an offset below 0", "write_at_all", func(ctx context.Context, w *comm.Comm, f, _ *os.File) error {
			return file.WriteAtAll(ctx, w, f, []byte{1}, int64(-w.Rank()))
		}, file.ErrMember, []int{1, 2}},
		{"elements without bytes", "write_at_all", func(ctx context.Context, w *comm.Comm, f, _ *os.File) error {
			return file.WriteAtAll(ctx, w, f, []string{"a"}, 0)
		}, comm.ErrType, []int{0, 1, 2}},
		{"two classes", "read_at_all", func(ctx context.Context, w *comm.Comm, f, _ *os.File) error {
			return file.ReadAtAll(ctx, w, pick(w.Rank() == 1, nil, f), make([]byte, 3), int64(w.Rank()))
		}, io.ErrUnexpectedEOF, []int{1, 2}},
		{"a full disk", "write_at_all", func(ctx context.Context, w *comm.Comm, f, _ *os.File) error {
			if full == nil {
				return &comm.Error{Op: "write_at_all", Comm: "world", Ranks: []int{2}, Err: syscall.ENOSPC}
			}
			return file.WriteAtAll(ctx, w, pick(w.Rank() == 2, full, f), []byte{1}, 0)
		}, syscall.ENOSPC, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "f")
			assert.NoError(t, os.WriteFile(name, []byte("1234"), 0o600))
			commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
				f, err := file.OpenAll(ctx, w, name, os.O_RDWR, 0)
				assert.NoError(t, err)
				spare, err := file.OpenAll(ctx, w, name, os.O_RDWR, 0)
				assert.NoError(t, err)
				handled := 0
				w.SetErrorHandler(func(_ *comm.Comm, err error) error {
					handled++
					return errors.Join(err, other)
				})
				err = c.do(ctx, w, f, spare)
				if c.name == "a full disk" && full == nil {
					return
				}
				assert.Equal(t, 1, handled)
				assert.ErrorIs(t, err, other, "it is what the handler makes of it")
				wantAll(t, err, c.class, c.op, c.ranks...)
				if c.name == "two classes" {
					assert.Equal(t, w.Rank() == 1, errors.Is(err, fs.ErrInvalid), "its own is there, too")
				}
				assert.NoError(t, file.ReadAtAll(ctx, w, f, make([]byte, 4), 0), "the next call")
				assert.NoError(t, file.CloseAll(ctx, w, f))
			})
		})
	}
}

func pick(yes bool, a, b *os.File) *os.File {
	if yes {
		return a
	}
	return b
}

// TestOpenFailsAtAll: the open fails at rank 0, before the others try, or at another member. In the
// second case the files that were opened are closed again.
func TestOpenFailsAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	for missing, ranks := range map[int][]int{0: {0}, 2: {2}} {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			mine := name
			if w.Rank() == missing {
				mine = filepath.Join(dir, "no folder", "f")
			}
			f, err := file.OpenAll(ctx, w, mine, readWrite, 0o600)
			wantAll(t, err, fs.ErrNotExist, "open_all", ranks...)
			assert.Nil(t, f)
		})
	}
	assert.FileExists(t, name, "what rank 0 has created stays")
}

// TestSpecR61DeathInACall: the survivors get one error, shrink, and continue with the same file.
func TestSpecR61DeathInACall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		f, err := file.OpenAll(ctx, w, name, readWrite, 0o600)
		assert.NoError(t, err)
		if w.Rank() == 1 {
			_ = f.Close()
			commtest.Kill(w)
		}
		err = file.WriteAtAll(ctx, w, f, []byte{1}, int64(w.Rank()))
		wantAll(t, err, comm.ErrProcFailed, "write_at_all", 1)
		s, err := w.Shrink(ctx)
		if !assert.NoError(t, err) {
			return
		}
		assert.NoError(t, file.WriteAtAll(ctx, s, f, []byte{1}, int64(s.Rank())))
		assert.NoError(t, file.CloseAll(ctx, s, f))
	})
	got, err := os.ReadFile(name)
	assert.NoError(t, err)
	assert.Len(t, got, 4, "rank 3 had written its part")
}

// TestSpecR61DeathAtEveryFrameOfOpen: at each frame of a death, of rank 0 or rank 1, the survivors
// agree on whether the file is open.
func TestSpecR61DeathAtEveryFrameOfOpen(t *testing.T) {
	dir := t.TempDir()
	for victim := range 2 {
		for frame := uint64(1); ; frame++ {
			name := filepath.Join(dir, fmt.Sprint(victim, "-", frame))
			var opened [3]bool
			came := commtest.RunKilled(t, 3, victim, frame, func(ctx context.Context, w *comm.Comm) {
				f, err := file.OpenAll(ctx, w, name, readWrite, 0o600)
				if f != nil {
					_ = f.Close()
				}
				if w.Rank() == victim {
					return
				}
				assert.Equal(t, err == nil, f != nil)
				if err != nil {
					assert.ErrorIs(t, err, comm.ErrProcFailed, "before frame %d", frame)
				}
				opened[w.Rank()] = err == nil
			})
			if !came {
				break
			}
			assert.Equal(t, opened[1-victim], opened[2], "rank %d died before frame %d", victim, frame)
		}
	}
}

// TestOtherCallsAreAMismatch: different calls of the members are a mismatch at all members.
func TestOtherCallsAreAMismatch(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		f, err := file.OpenAll(ctx, w, name, readWrite, 0o600)
		assert.NoError(t, err)
		if w.Rank() == 2 {
			err = file.SyncAll(ctx, w, f)
		} else {
			err = file.WriteAtAll(ctx, w, f, []byte{1}, 0)
		}
		assert.ErrorIs(t, err, comm.ErrMismatch)
		assert.NoError(t, file.CloseAll(ctx, w, f))
	})
}

// TestRevokedAtOne: the other members get the error as well, and no member waits.
func TestRevokedAtOne(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		f, err := file.OpenAll(ctx, w, name, readWrite, 0o600)
		assert.NoError(t, err)
		if w.Rank() == 1 {
			assert.NoError(t, w.Revoke())
		}
		err = file.WriteAtAll(ctx, w, f, []byte{1}, 0)
		assert.ErrorIs(t, err, comm.ErrRevoked)
		assert.True(t, comm.Recoverable(err))
		assert.NoError(t, f.Close())
	})
}

// TestWrongArguments: a call with wrong arguments does nothing, and the next call is the same to
// the others.
func TestWrongArguments(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	_, err := file.OpenAll(t.Context(), nil, name, readWrite, 0o600)
	assert.ErrorIs(t, err, comm.ErrArgument)
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		var none context.Context
		over, cancel := context.WithCancel(ctx)
		cancel()
		if w.Rank() == 0 {
			_, err := file.OpenAll(over, w, name, readWrite, 0o600)
			assert.ErrorIs(t, err, comm.ErrNotBegun)
			assert.ErrorIs(t, err, context.Canceled)
			assert.NoFileExists(t, name)
			_, err = file.OpenAll(none, w, name, readWrite, 0o600)
			assert.ErrorIs(t, err, comm.ErrArgument)
		}
		f, err := file.OpenAll(ctx, w, name, readWrite, 0o600)
		assert.NoError(t, err)
		assert.ErrorIs(t, file.CloseAll(over, w, f), comm.ErrNotBegun)
		assert.NoError(t, file.CloseAll(ctx, w, f))
	})
}

// TestManyMembers: above 40 members the error has no ranks, but still its class.
func TestManyMembers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for n, ranks := range map[int][]int{40: {39}, 41: nil} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			mine := name
			if w.Rank() == 39 {
				mine = filepath.Join(name, "is no folder")
			}
			_, err := file.OpenAll(ctx, w, mine, readWrite, 0o600)
			assert.ErrorIs(t, err, file.ErrMember, "ENOTDIR")
			var e *comm.Error
			if assert.ErrorAs(t, err, &e) {
				assert.Equal(t, ranks, e.Ranks)
			}
		})
	}
}
