package earlier_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
	"github.com/goulfm/goulfm/recovery"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// A release is the folder of a build.
type release struct {
	dir   string
	steps map[string]int // of each published version
}

// releases returns the builds in testdata.
func releases(t *testing.T) (all []release) {
	dirs, err := filepath.Glob("testdata/*")
	require.NoError(t, err)
	for _, dir := range dirs {
		r := release{dir: dir, steps: map[string]int{}}
		text, err := os.ReadFile(filepath.Join(dir, "steps.txt"))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			name, step := "", 0
			_, err := fmt.Sscan(line, &name, &step)
			require.NoError(t, err, line)
			r.steps[name] = step
		}
		all = append(all, r)
	}
	require.NotEmpty(t, all)
	return all
}

// copied returns a folder with the checkpoints of a build, to which only its owner may write: a
// checkout may have other permissions.
func (r release) copied(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "checkpoints")
	require.NoError(t, os.CopyFS(to, os.DirFS(filepath.Join(r.dir, "checkpoints"))))
	require.NoError(t, filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	}))
	return to
}

func list(t *testing.T, dir string) []checkpoint.Version {
	t.Helper()
	all, err := checkpoint.List(t.Context(), checkpoint.Dir(dir))
	require.NoError(t, err)
	return all
}

// TestListAndVerify: the versions of each build are listed as that build has listed them, and all
// published ones are as written.
func TestListAndVerify(t *testing.T) {
	for _, r := range releases(t) {
		dir, is := r.copied(t), ""
		for _, v := range list(t, dir) {
			ranks, state := fmt.Sprint(v.Ranks), "whole"
			err := checkpoint.Verify(t.Context(), checkpoint.Dir(dir), v)
			if _, published := r.steps[v.Name()]; published {
				assert.NoError(t, v.Err)
				assert.NoError(t, err)
			} else {
				ranks, state = "?", "not published"
				assert.ErrorIs(t, v.Err, checkpoint.ErrIncomplete)
				assert.ErrorIs(t, err, checkpoint.ErrIncomplete)
			}
			is += fmt.Sprintf("%-24s %5s ranks %12d bytes  %s\n", v.Name(), ranks, v.Bytes, state)
		}
		was, err := os.ReadFile(filepath.Join(r.dir, "ls.txt"))
		require.NoError(t, err)
		assert.Equal(t, string(was), is, r.dir)
	}
}

// quiet is the configuration of a job that restores versions in a folder.
func quiet(dir string) recovery.Config {
	return recovery.Config{Log: slog.New(slog.DiscardHandler), Files: recovery.Files{Dir: dir, Keep: 9}}
}

// TestRestore: a job restores each version with its exact values, at every number of ranks that the
// members permit. Without a named version the job restores the newest one.
func TestRestore(t *testing.T) {
	for _, r := range releases(t) {
		newest := map[string]bool{}
		for _, v := range list(t, r.copied(t)) {
			step, published := r.steps[v.Name()]
			if !published {
				continue
			}
			j := jobOf(v)
			restarts := []string{v.Name()}
			if !newest[v.Job] {
				newest[v.Job] = true
				restarts = append(restarts, "", "latest")
			}
			for _, restart := range restarts {
				t.Setenv(recovery.RestartVariable, restart)
				for _, n := range append([]int{j.ranks}, j.others...) {
					j.restores(t, r.copied(t), n, step)
				}
			}
		}
		assert.Len(t, newest, len(jobs), r.dir)
	}
}

func jobOf(v checkpoint.Version) job {
	return jobs[slices.IndexFunc(jobs, func(j job) bool { return j.name == v.Job })]
}

// restores runs a job of n ranks, which has to restore the values of a step.
func (j job) restores(t *testing.T, dir string, n, step int) {
	t.Helper()
	var calls [16]int
	commtest.Job{N: n}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		return j.goOn(ctx, w, quiet(dir), 0, func(w *recovery.World, d data) {
			want := j.fresh()
			want.set(w, step)
			assert.Equal(t, step, d.step(), "%s, rank %d of %d", j.name, w.Rank(), w.Size())
			assert.True(t, reflect.DeepEqual(want, d), "%s, rank %d of %d, step %d: other values", j.name, w.Rank(), w.Size(), step)
			calls[w.Rank()]++
		})
	})
	for rank, is := range calls[:n] {
		assert.Equal(t, 1, is, "%s, rank %d of %d", j.name, rank, n)
	}
}

// TestGoOn: a job continues from the newest version of each build, and its own versions are listed
// beside the earlier ones.
func TestGoOn(t *testing.T) {
	for _, r := range releases(t) {
		dir := r.copied(t)
		for _, j := range jobs[:3] {
			before := r.steps[newestOf(t, dir, j.name).Name()]
			commtest.Job{N: j.ranks}.Run(t, func(ctx context.Context, w *comm.Comm) error {
				err := j.goOn(ctx, w, quiet(dir), 2, func(_ *recovery.World, d data) { assert.Greater(t, d.step(), before+1) })
				assert.ErrorIs(t, err, recovery.ErrStopped)
				return nil
			})
			v := newestOf(t, dir, j.name)
			assert.NotContains(t, r.steps, v.Name())
			assert.NoError(t, checkpoint.Verify(t.Context(), checkpoint.Dir(dir), v))
		}
		there := map[string]bool{}
		for _, v := range list(t, dir) {
			there[v.Name()] = v.Err == nil
		}
		for name := range r.steps {
			assert.True(t, there[name], name)
		}
	}
}

// newestOf returns the newest published version of a job.
func newestOf(t *testing.T, dir, job string) checkpoint.Version {
	t.Helper()
	all := list(t, dir)
	i := slices.IndexFunc(all, func(v checkpoint.Version) bool { return v.Job == job && v.Err == nil })
	require.GreaterOrEqual(t, i, 0, job)
	return all[i]
}

// edited returns the error of Verify, or of List, for a version of which one file is changed.
func edited(t *testing.T, dir string, v checkpoint.Version, file string, edit func([]byte) []byte) error {
	t.Helper()
	path := filepath.Join(dir, v.Name(), file)
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, edit(slices.Clone(was)), 0o600))
	defer func() { require.NoError(t, os.WriteFile(path, was, 0o600)) }()
	now := list(t, dir)
	now = now[slices.IndexFunc(now, func(x checkpoint.Version) bool { return x.Name() == v.Name() }):]
	return cmp.Or(now[0].Err, checkpoint.Verify(t.Context(), checkpoint.Dir(dir), v))
}

// everyFile calls f for each file of each published version in a copy of each build's files.
func everyFile(t *testing.T, f func(dir string, v checkpoint.Version, file string, size int)) {
	for _, r := range releases(t) {
		dir := r.copied(t)
		for _, v := range list(t, dir) {
			if v.Err != nil {
				continue
			}
			entries, err := os.ReadDir(filepath.Join(dir, v.Name()))
			require.NoError(t, err)
			require.Len(t, entries, v.Ranks+1)
			for _, e := range entries {
				info, err := e.Info()
				require.NoError(t, err)
				f(dir, v, e.Name(), int(info.Size()))
			}
		}
	}
}

// TestLaterFormat: a file with a format that is later by one is refused, and the error has both
// numbers and the remedy.
func TestLaterFormat(t *testing.T) {
	everyFile(t, func(dir string, v checkpoint.Version, file string, _ int) {
		newest := ckptfile.Format
		err := edited(t, dir, v, file, func(b []byte) []byte {
			if file == ckptfile.ManifestName {
				newest = ckptfile.ListFormat
				return laterManifest(t, b)
			}
			binary.LittleEndian.PutUint32(b[8:], ckptfile.Format+1)
			return b
		})
		require.ErrorIs(t, err, checkpoint.ErrFormat, "%s/%s", v.Name(), file)
		assert.ErrorContains(t, err, v.Name()+"/"+file+": ")
		assert.ErrorContains(t, err, fmt.Sprintf("format %d, and this build reads formats up to %d: use the build that wrote it, or a later goulfm", newest+1, newest))
	})
}

// laterManifest is a manifest of the next format, with the right checksum.
func laterManifest(t *testing.T, b []byte) []byte {
	t.Helper()
	var sealed struct {
		Manifest json.RawMessage `json:"manifest"`
		CRC      uint32          `json:"crc32c"`
	}
	require.NoError(t, json.Unmarshal(b, &sealed))
	later := bytes.Replace(sealed.Manifest, []byte(`"format":1,`), fmt.Appendf(nil, `"format":%d,`, ckptfile.ListFormat+1), 1)
	require.NotEqual(t, string(sealed.Manifest), string(later))
	sealed.Manifest, sealed.CRC = later, ckptfile.CRC(later)
	b, err := json.Marshal(sealed)
	require.NoError(t, err)
	return append(b, '\n')
}

// TestLaterFormatIsNotRestored: a job reports a version of a later format, restores the one before,
// and leaves the files of the later format as they are.
func TestLaterFormatIsNotRestored(t *testing.T) {
	for _, r := range releases(t) {
		dir, j := r.copied(t), jobs[0]
		v := newestOf(t, dir, j.name)
		path := filepath.Join(dir, v.Name(), ckptfile.ManifestName)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		later := laterManifest(t, b)
		require.NoError(t, os.WriteFile(path, later, 0o600))
		before := newestOf(t, dir, j.name)
		require.NotEqual(t, v.Name(), before.Name())
		j.restores(t, dir, j.ranks, r.steps[before.Name()])

		var told bytes.Buffer
		commtest.Job{N: j.ranks}.Run(t, func(ctx context.Context, w *comm.Comm) error {
			cfg := quiet(dir)
			cfg.Files.Keep = 1
			if w.Rank() == 0 {
				cfg.Log = slog.New(slog.NewTextHandler(&told, nil))
			}
			err := j.goOn(ctx, w, cfg, 2, func(*recovery.World, data) {})
			assert.ErrorIs(t, err, recovery.ErrStopped)
			return nil
		})
		assert.Contains(t, told.String(), `msg="version not restored" version=`+v.Name())
		assert.Contains(t, told.String(), fmt.Sprintf("format %d, and this build reads formats up to %d", ckptfile.ListFormat+1, ckptfile.ListFormat))
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, later, after)
	}
}

// refused reports whether an error is one of a file that cannot be restored.
func refused(err error) bool {
	reasons := []error{checkpoint.ErrForeign, checkpoint.ErrFormat, checkpoint.ErrTorn, checkpoint.ErrCorrupt, checkpoint.ErrMissing}
	return slices.ContainsFunc(reasons, func(e error) bool { return errors.Is(err, e) })
}

// TestCut: a file that was cut short is refused, and one with bytes after its end.
func TestCut(t *testing.T) {
	everyFile(t, func(dir string, v checkpoint.Version, file string, size int) {
		for _, n := range []int{0, 1, 8, 16, size / 3, size / 2, size - 17, size - 1} {
			err := edited(t, dir, v, file, func(b []byte) []byte { return b[:n] })
			require.True(t, refused(err), "%s/%s: %d of %d bytes: %v", v.Name(), file, n, size, err)
			assert.ErrorContains(t, err, v.Name()+"/"+file)
		}
		err := edited(t, dir, v, file, func(b []byte) []byte { return append(b, 0) })
		require.True(t, refused(err), "%s/%s: %v", v.Name(), file, err)
	})
}

// TestFlipped: a file with a changed byte is refused, wherever the byte is. (The tests of
// internal/ckpt/ckptfile change each bit.)
func TestFlipped(t *testing.T) {
	const flips = 25 // of a file
	everyFile(t, func(dir string, v checkpoint.Version, file string, size int) {
		for i := range flips {
			at := i * (size - 1) / (flips - 1)
			err := edited(t, dir, v, file, func(b []byte) []byte { b[at] ^= 1 << (i % 8); return b })
			require.True(t, refused(err), "%s/%s: byte %d of %d: %v", v.Name(), file, at, size, err)
			assert.ErrorContains(t, err, v.Name()+"/"+file)
		}
	})
}
