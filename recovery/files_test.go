package recovery_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/recovery"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// lines collects the lines of a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// logger writes records into l, as text without the time.
func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

const fieldRows, fieldWidth, fieldSteps = 23, 3, 20

// awaits selects the files that a program waits for before each step.
type awaits int

const (
	awaitsNone awaits = iota
	awaitsRanks
	awaitsAll // and manifests
)

// field is a program that may continue with any number of ranks. On request a step stops the
// program. The result is the sums of all ranks together.
type field struct {
	log    lines
	stopAt int
	steps  int // 0: fieldSteps
	cfg    recovery.Config
	awaits awaits
	atEnd  func() // at rank 0, when all steps are done

	mu   sync.Mutex
	sums map[int]int // by row, at the end
}

func (f *field) run(t testing.TB, j commtest.Job) (errs []error) {
	t.Helper()
	f.sums = map[int]int{}
	if f.cfg.Log == nil {
		f.cfg.Log = f.log.logger()
	}
	f.cfg.Files.Job = "field"
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		err := recovery.Run(ctx, w, f.cfg, func(ctx context.Context, w *recovery.World) error { return f.body(ctx, w, stop) })
		f.mu.Lock()
		defer f.mu.Unlock()
		errs = append(errs, err)
		return nil
	})
	return errs
}

func (f *field) body(ctx context.Context, w *recovery.World, stop func()) error {
	lo, hi := w.Block(fieldRows)
	u := make([]int, (hi-lo)*fieldWidth)
	for i := range u {
		u[i] = lo*fieldWidth + i
	}
	seen := 0
	if _, err := w.Protect(ctx, recovery.Slice("u", &u, recovery.Rows(fieldRows, fieldWidth)), recovery.Value("seen", &seen, recovery.Same())); err != nil {
		return err
	}
	for step := range w.Steps(ctx, cmp.Or(f.steps, fieldSteps)) {
		if step == f.stopAt-1 && w.Rank() == 0 {
			stop()
		}
		if f.awaits != awaitsNone {
			w.AwaitFiles(f.awaits == awaitsAll)
		}
		local := 0
		for i := range u {
			u[i] = (u[i]*31 + seen) % 1_000_003
			local += u[i]
		}
		sum, err := collectives.AllreduceOne(ctx, w.Comm(), local, collectives.Sum)
		if err != nil {
			return err
		}
		seen = (seen + sum) % 1_000_003
	}
	if f.atEnd != nil && w.Rank() == 0 {
		f.atEnd()
	}
	if w.Err() == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		for row := lo; row < hi; row++ {
			f.sums[row] = 0
			for _, v := range u[(row-lo)*fieldWidth:][:fieldWidth] {
				f.sums[row] += v + seen
			}
		}
	}
	return w.Err()
}

// everyCommit writes files of each committed version, unless files are being written.
func everyCommit(dir string) recovery.Config {
	return recovery.Config{Every: 2, Files: recovery.Files{Dir: dir, Every: 1}}
}

// awaited is a program that waits for its files.
func awaited(dir string) *field {
	f := &field{cfg: everyCommit(""), awaits: awaitsAll}
	f.cfg.Files.Store = checkpoint.Dir(dir)
	return f
}

// undisturbed is the result of a job without files.
func undisturbed(t *testing.T) map[int]int {
	f := &field{}
	for _, err := range f.run(t, commtest.Job{N: 3}) {
		require.NoError(t, err)
	}
	require.Len(t, f.sums, fieldRows)
	return f.sums
}

// stopped returns a folder in which a job of 4 ranks that was stopped has left its last version.
func stopped(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "checkpoints")
	f := awaited(dir)
	f.stopAt = 9
	for _, err := range f.run(t, commtest.Job{N: 4}) {
		assert.ErrorIs(t, err, recovery.ErrStopped)
	}
	assert.Empty(t, f.log.String())
	return dir
}

func versions(t *testing.T, dir string) []checkpoint.Version {
	all, err := checkpoint.List(t.Context(), checkpoint.Dir(dir))
	require.NoError(t, err)
	return all
}

// TestRestart: a stopped job continues with any number of ranks, and its result is the same.
func TestRestart(t *testing.T) {
	want, dir := undisturbed(t), stopped(t)
	all := versions(t, dir)
	require.NotEmpty(t, all)
	last := all[0]
	require.NoError(t, last.Err)
	require.NoError(t, checkpoint.Verify(t.Context(), checkpoint.Dir(dir), last))
	require.EqualValues(t, 6, last.Number, "asked in step 9, known at the commit of step 10, the one of step 11 was the last")
	for _, n := range []int{4, 1, 3, 7} {
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		require.NoError(t, os.Chmod(copied, 0o700))
		f := awaited(copied)
		for _, err := range f.run(t, commtest.Job{N: n}) {
			assert.NoError(t, err)
		}
		assert.Equal(t, want, f.sums, "%d ranks", n)
		assert.Contains(t, f.log.String(), fmt.Sprintf(`level=INFO msg=restored ranks=%d from=files version=%s step=11 files="the store" writers=4`, n, last.Name()))
		now := versions(t, copied)
		assert.LessOrEqual(t, len(now), 3, "the newest two, and one that was not finished")
		assert.Greater(t, now[0].Epoch, last.Epoch)
	}
}

// TestRestartAsTold: GOULFM_RESTART names a version, or none; a missing version is an error.
func TestRestartAsTold(t *testing.T) {
	want, dir := undisturbed(t), stopped(t)
	all := versions(t, dir)
	older := all[len(all)-1]
	require.NoError(t, older.Err)
	for value, line := range map[string]string{"none": "", "latest": all[0].Name(), older.Name(): older.Name(), fmt.Sprintf("%d.%d", older.Epoch, older.Number): older.Name()} {
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		require.NoError(t, os.Chmod(copied, 0o700))
		t.Setenv(recovery.RestartVariable, value)
		f := awaited(copied)
		for _, err := range f.run(t, commtest.Job{N: 2}) {
			assert.NoError(t, err)
		}
		assert.Equal(t, want, f.sums)
		assert.Equal(t, line != "", strings.Contains(f.log.String(), "msg=restored ranks=2 from=files version="+line), "%s: %s", value, f.log.String())
		assert.Greater(t, versions(t, copied)[0].Epoch, all[0].Epoch, "also a new beginning has greater epochs")
	}
	t.Setenv(recovery.RestartVariable, "9.9")
	f := &field{cfg: everyCommit(dir)}
	for _, err := range f.run(t, commtest.Job{N: 2}) {
		assert.ErrorIs(t, err, recovery.ErrLost)
		assert.ErrorContains(t, err, "9.9")
	}
}

// TestDamagedFiles: a torn, cut, flipped, missing or exchanged file is named and not restored; the
// previous version is.
func TestDamagedFiles(t *testing.T) {
	want, dir := undisturbed(t), stopped(t)
	all := versions(t, dir)
	require.Len(t, all, 2, "those of steps 6 and 11: Keep")
	newest, older := all[0].Name(), all[1].Name()
	change := func(edit func([]byte) []byte) func(t *testing.T, file string) {
		return func(t *testing.T, file string) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, edit(b), 0o600))
		}
	}
	for _, damage := range []struct {
		name, file string
		do         func(t *testing.T, file string)
	}{
		{"torn", "rank-2.gck", change(func(b []byte) []byte { return append(b[:len(b)-40:len(b)-40], make([]byte, 40)...) })},
		{"truncated", "rank-1.gck", change(func(b []byte) []byte { return b[:len(b)/2] })},
		{"flipped", "rank-3.gck", change(func(b []byte) []byte { b[len(b)/2] ^= 4; return b })},
		{"flipped in the head", "rank-0.gck", change(func(b []byte) []byte { b[40] ^= 1; return b })},
		{"missing", "rank-0.gck", func(t *testing.T, file string) { require.NoError(t, os.Remove(file)) }},
		{"of another version", "rank-2.gck", func(t *testing.T, file string) {
			b, err := os.ReadFile(strings.Replace(file, newest, older, 1))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, b, 0o600))
		}},
		{"foreign", "rank-2.gck", change(func(b []byte) []byte { return bytes.Repeat([]byte("x"), len(b)) })},
		{"flipped", "manifest.json", change(func(b []byte) []byte { b[len(b)/2] ^= 1; return b })},
	} {
		t.Run(damage.name+" "+damage.file, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "copy")
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			require.NoError(t, os.Chmod(copied, 0o700))
			damage.do(t, filepath.Join(copied, newest, damage.file))
			f := awaited(copied)
			for _, err := range f.run(t, commtest.Job{N: 3}) {
				assert.NoError(t, err)
			}
			assert.Equal(t, want, f.sums)
			told := f.log.String()
			assert.Contains(t, told, `msg="version not restored" `)
			assert.Contains(t, told, "version="+newest+` files="the store" error=`)
			assert.Contains(t, told, damage.file)
			assert.Contains(t, told, "from=files version="+older+" step=")
		})
	}
}

// TestAllVersionsDamaged: a job that can restore none of the versions in its folder starts anew and
// reports so, whether the start finds the damage or only the restore does.
func TestAllVersionsDamaged(t *testing.T) {
	want, dir := undisturbed(t), stopped(t)
	for file, line := range map[string]string{
		"manifest.json": `level=WARN msg="started anew" ranks=3 from=beginning files="the store" unfit=2`,
		"rank-1.gck":    `from=beginning files="the store" unfit=2`,
	} {
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		require.NoError(t, os.Chmod(copied, 0o700))
		all := versions(t, copied)
		require.Len(t, all, 2)
		for _, v := range all {
			at := filepath.Join(copied, v.Name(), file)
			b, err := os.ReadFile(at)
			require.NoError(t, err)
			b[len(b)/2] ^= 4
			require.NoError(t, os.WriteFile(at, b, 0o600))
		}
		f := awaited(copied)
		for _, err := range f.run(t, commtest.Job{N: 3}) {
			assert.NoError(t, err)
		}
		assert.Equal(t, want, f.sums, file)
		assert.Contains(t, f.log.String(), line, file)
	}
}

// TestRestartOfAnotherProgram: a program that protects other members does not get a version.
func TestRestartOfAnotherProgram(t *testing.T) {
	cfg := everyCommit(stopped(t))
	cfg.Files.Job, cfg.Log = "field", slog.New(slog.DiscardHandler)
	commtest.Job{N: 2}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		err := recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
			u, other := make([]int, 1), 0.5
			_, err := w.Protect(ctx, recovery.Slice("u", &u), recovery.Value("other", &other))
			return err
		})
		assert.ErrorIs(t, err, recovery.ErrMember)
		assert.ErrorContains(t, err, "starts anew")
		return nil
	})
}

// TestEachPointWithFiles: while files are written a rank dies at each point that it passes. The
// result is the same, and every published version is complete.
func TestEachPointWithFiles(t *testing.T) {
	want := undisturbed(t)
	f := &field{cfg: everyCommit(filepath.Join(t.TempDir(), "all"))}
	var marks []commtest.Killed
	f.cfg.Log, f.sums = slog.New(slog.DiscardHandler), map[int]int{}
	f.cfg.Files.Job = "field"
	marks = commtest.Job{N: 3}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return recovery.Run(ctx, w, f.cfg, func(ctx context.Context, w *recovery.World) error { return f.body(ctx, w, func() {}) })
	})
	for i, k := range marks {
		if !longtest.Row(i, 7) {
			continue
		}
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		f := &field{cfg: everyCommit(dir)}
		for _, err := range f.run(t, commtest.Job{N: 3, Kills: []commtest.Killed{k}}) {
			assert.True(t, err == nil || errors.Is(err, comm.ErrFenced), "%v: %v", k, err)
		}
		assert.Equal(t, want, f.sums, "%v", k)
		for _, v := range versions(t, dir) {
			if !errors.Is(v.Err, checkpoint.ErrIncomplete) {
				assert.NoError(t, checkpoint.Verify(t.Context(), checkpoint.Dir(dir), v))
			}
		}
	}
}

// TestPairLostWithFiles: when both copies are lost the last published version is restored.
func TestPairLostWithFiles(t *testing.T) {
	want := undisturbed(t)
	f := awaited(filepath.Join(t.TempDir(), "dir"))
	kills := []commtest.Killed{{Rank: 0, Mark: "step", At: 16}, {Rank: 2, Mark: "step", At: 16}} // one step on they may have published the seventh
	for _, err := range f.run(t, commtest.Job{N: 4, Kills: kills}) {
		assert.True(t, err == nil || errors.Is(err, comm.ErrFenced), "%v", err)
	}
	assert.Equal(t, want, f.sums)
	assert.Contains(t, f.log.String(), `from=files version=field-1-5 step=10 files="the store" writers=4`)
}

// full is a store on a disk without room for the given file.
type full struct {
	checkpoint.Store
	file string
}

func (s full) Put(ctx context.Context, key string, size int64, r io.Reader) error {
	if !strings.HasSuffix(key, s.file) {
		return s.Store.Put(ctx, key, size, r)
	}
	return s.Store.Put(ctx, key, size, io.MultiReader(io.LimitReader(r, 100), noRoom{}))
}

type noRoom struct{}

func (noRoom) Read([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestDiskFull: files that cannot be written are reported, and the program continues, unless
// Files.Must is set.
func TestDiskFull(t *testing.T) {
	want := undisturbed(t)
	for _, file := range []string{"rank-1.gck", "manifest.json"} {
		for _, must := range []bool{false, true} {
			t.Run(fmt.Sprint(file, must), func(t *testing.T) {
				dir := t.TempDir()
				require.NoError(t, os.Chmod(dir, 0o700))
				f := &field{cfg: everyCommit(""), awaits: awaitsAll}
				f.cfg.Files.Store, f.cfg.Files.Must = full{checkpoint.Dir(dir), file}, must
				errs := f.run(t, commtest.Job{N: 3})
				for _, err := range errs {
					if must {
						assert.ErrorIs(t, err, recovery.ErrFiles)
						assert.ErrorContains(t, err, syscall.ENOSPC.Error())
					} else {
						assert.NoError(t, err)
					}
				}
				assert.Equal(t, !must, len(f.sums) == fieldRows)
				if !must {
					assert.Equal(t, want, f.sums)
				}
				assert.Contains(t, f.log.String(), syscall.ENOSPC.Error())
				for _, v := range versions(t, dir) {
					assert.ErrorIs(t, v.Err, checkpoint.ErrIncomplete)
				}
			})
		}
	}
}

// TestDamagedFileAndSavings: a rank that cannot read its file does not let the others wait for its
// savings.
func TestDamagedFileAndSavings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "checkpoints")
	cfg := everyCommit(dir)
	cfg.Files.Job = "saver"
	run := func(stopAt int, log *slog.Logger) (errs []error, last [3]int) {
		cfg.Log = log
		var mu sync.Mutex
		commtest.Job{N: 3}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			err := recovery.Run(ctx, w, cfg, func(ctx context.Context, w *recovery.World) error {
				x, saved := []int{0}, 0
				if _, err := w.Protect(ctx, recovery.Slice("x", &x), recovery.Value("saved", &saved, recovery.Own())); err != nil {
					return err
				}
				for step := range w.Steps(ctx, fieldSteps) {
					x[0] += step
					saved++
					if err := w.Save(ctx); err != nil {
						return err
					}
					if step == stopAt && w.Rank() == 0 {
						stop()
					}
				}
				mu.Lock()
				defer mu.Unlock()
				last[w.Rank()] = x[0]
				return w.Err()
			})
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			return nil
		})
		return errs, last
	}
	errs, _ := run(5, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		require.ErrorIs(t, err, recovery.ErrStopped)
	}
	newest := versions(t, dir)[0].Name()
	file := filepath.Join(dir, newest, "rank-1.gck")
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	b[len(b)/2] ^= 4
	require.NoError(t, os.WriteFile(file, b, 0o600))
	var log lines
	errs, last := run(-1, log.logger())
	for _, err := range errs {
		assert.NoError(t, err)
	}
	assert.Contains(t, log.String(), newest)
	assert.Equal(t, [3]int{190, 190, 190}, last)
}

// TestLastManifestIsLost: with Files.Must a job does not return ErrStopped if its last commit is
// not in files.
func TestLastManifestIsLost(t *testing.T) {
	for _, must := range []bool{false, true} {
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, 0o700))
		f := &field{cfg: everyCommit(""), stopAt: 1} // known at the first commit; the second one is the last
		f.cfg.Files = recovery.Files{Store: full{checkpoint.Dir(dir), "manifest.json"}, Every: 1, Must: must}
		for _, err := range f.run(t, commtest.Job{N: 3}) {
			if must {
				assert.ErrorIs(t, err, recovery.ErrFiles)
				assert.NotErrorIs(t, err, recovery.ErrStopped)
			} else {
				assert.ErrorIs(t, err, recovery.ErrStopped)
			}
		}
		assert.Contains(t, f.log.String(), `msg="version not published"`)
		assert.Contains(t, f.log.String(), syscall.ENOSPC.Error())
	}
}

// TestAllWhoKnewOfFilesAreLost: the versions of a job are found even if all ranks that wrote them
// have died.
func TestAllWhoKnewOfFilesAreLost(t *testing.T) {
	want := undisturbed(t)
	for _, told := range []string{"", "none"} {
		t.Setenv(recovery.RestartVariable, told)
		f := awaited(filepath.Join(t.TempDir(), "dir"))
		kills := []commtest.Killed{{Rank: 0, Mark: "step", At: 16}, {Rank: 1, Mark: "restore.plan", At: 2}} // one step on they may have published the seventh
		for _, err := range f.run(t, commtest.Job{N: 2, Kills: kills}) {
			assert.True(t, err == nil || errors.Is(err, comm.ErrFenced), "%v", err)
		}
		assert.Equal(t, want, f.sums)
		assert.Contains(t, f.log.String(), `from=files version=field-1-5 step=10 files="the store" writers=2`)
	}
}

// held is a store that holds the first manifest back until release.
type held struct {
	checkpoint.Store
	once      sync.Once
	release   chan struct{}
	overtaken atomic.Bool // another manifest arrived before the release
}

func (s *held) Put(ctx context.Context, key string, size int64, r io.Reader) error {
	if strings.HasSuffix(key, "manifest.json") {
		first := false
		s.once.Do(func() { first = true })
		select {
		case <-s.release:
		default:
			s.overtaken.Store(!first || s.overtaken.Load())
			<-s.release
		}
	}
	return s.Store.Put(ctx, key, size, r)
}

// TestPublishedInOrder: a version with a slow manifest is not overtaken by the next version, which
// would delete its files.
func TestPublishedInOrder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	store := &held{Store: checkpoint.Dir(dir), release: make(chan struct{})}
	f := &field{cfg: everyCommit(""), awaits: awaitsRanks}
	f.cfg.Files.Store = store
	f.atEnd = func() { close(store.release) }
	for _, err := range f.run(t, commtest.Job{N: 3}) {
		assert.NoError(t, err)
	}
	assert.False(t, store.overtaken.Load())
	published := 0
	for _, v := range versions(t, dir) {
		if v.Err == nil {
			published++
			continue
		}
		// The newest one may have been in transit when the program ended.
		assert.ErrorIs(t, v.Err, checkpoint.ErrIncomplete, v.Name())
		assert.Zero(t, published, "%s is older than a version that was published", v.Name())
	}
	assert.Positive(t, published)
}
