package earlier_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/ckpt/ckptfile"
	"github.com/goulfm/goulfm/recovery"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

var write = flag.String("write", "", "folder to write the files of this build to: testdata/COMMIT")

// TestWrite writes the files of a release.
func TestWrite(t *testing.T) {
	if *write == "" {
		t.Skip("writes the files of a release, with -args -write testdata/COMMIT")
	}
	dir := filepath.Join(*write, "checkpoints")
	require.NoDirExists(t, dir, "files of a release are written once")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	var steps bytes.Buffer
	for _, j := range jobs[:3] {
		for _, more := range []int{2, 5} { // two jobs, the second of which continues from the first
			step, name := j.write(t, dir, more)
			fmt.Fprintln(&steps, name, step)
		}
	}
	fmt.Fprintln(&steps, writeChunks(t, dir), chunksStep)
	_, name := jobs[2].write(t, dir, 1)
	require.NoError(t, os.Remove(filepath.Join(dir, name, ckptfile.ManifestName)), "a version that was not published")
	require.NoError(t, os.WriteFile(filepath.Join(*write, "steps.txt"), steps.Bytes(), 0o600))
}

// write runs a job until it has stopped, and returns the step and the name of its last version. Of
// the versions that it has written, only the last one stays.
func (j job) write(t *testing.T, dir string, more int) (step int, name string) {
	t.Helper()
	store := checkpoint.Dir(dir)
	before, err := checkpoint.List(t.Context(), store)
	require.NoError(t, err)
	stays := map[string]bool{}
	for _, v := range before {
		stays[v.Name()] = true
	}
	commtest.Job{N: j.ranks}.Run(t, func(ctx context.Context, w *comm.Comm) error {
		err := j.goOn(ctx, w, recovery.Config{Files: recovery.Files{Dir: dir, Keep: 9}}, more, func(_ *recovery.World, d data) { step = d.step() })
		assert.ErrorIs(t, err, recovery.ErrStopped)
		return nil
	})
	after, err := checkpoint.List(t.Context(), store)
	require.NoError(t, err)
	for _, v := range after { // the newest first
		switch {
		case v.Job != j.name || stays[v.Name()]:
		case name == "" && v.Err == nil:
			name = v.Name()
		default:
			require.NoError(t, checkpoint.Remove(t.Context(), store, v))
		}
	}
	require.NotEmpty(t, name)
	require.Positive(t, step)
	return step, name
}

// writeChunks writes a version with short chunks.
func writeChunks(t *testing.T, dir string) (name string) {
	t.Helper()
	m := ckptfile.Manifest{Job: "chunks", Epoch: 1, Number: 2}
	name = ckptfile.FolderName(m.Job, m.Epoch, m.Number)
	store := checkpoint.Dir(dir)
	for rank, rows := range [][2]int{{0, 6}, {6, 12}} {
		h := ckptfile.Head{Job: m.Job, Epoch: m.Epoch, Number: m.Number, Size: 2, Rank: rank, Chunk: 64}
		counted := gobOf(t, chunksStep) // the counter of World.Steps, which is in the file of rank 0 alone
		if rank > 0 {
			counted = nil
		}
		h.Members = []ckptfile.Member{{Kind: "value of int", Bytes: int64(len(counted)), Options: "same "}, {
			Name: "rows", Kind: "slice of int64", Element: 8, Bytes: 6 * chunksWidth * 8,
			Runs: [][2]int{{rows[0] * chunksWidth, 6 * chunksWidth}}, Options: fmt.Sprintf("rows %dx%d ", chunksRows, chunksWidth),
		}}
		var file bytes.Buffer
		w, err := ckptfile.NewWriter(&file, h, []ckptfile.Codec{ckptfile.None, ckptfile.Zstd}[rank])
		require.NoError(t, err)
		values, err := binary.Append(nil, binary.LittleEndian, chunksOf(rows[0], rows[1], chunksStep))
		require.NoError(t, err)
		_, err = w.Write(slices.Concat(counted, values))
		require.NoError(t, err)
		size, crc, err := w.Close()
		require.NoError(t, err)
		m.Files = append(m.Files, ckptfile.File{Name: ckptfile.FileName(rank), Bytes: size, CRC: crc})
		require.NoError(t, store.Put(t.Context(), name+"/"+ckptfile.FileName(rank), size, &file))
	}
	b, err := m.Encode()
	require.NoError(t, err)
	require.NoError(t, store.Put(t.Context(), name+"/"+ckptfile.ManifestName, int64(len(b)), bytes.NewReader(b)))
	return name
}

func gobOf(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, gob.NewEncoder(&b).Encode(v))
	return b.Bytes()
}
