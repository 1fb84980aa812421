package comm_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestNames: two labels, however deep, and a number from the second of a kind on.
func TestNames(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		dup := func(c *comm.Comm) *comm.Comm {
			d, err := c.Dup(ctx)
			assert.NoError(t, err)
			return d
		}
		shrink := func(c *comm.Comm) *comm.Comm {
			s, err := c.Shrink(ctx)
			assert.NoError(t, err)
			return s
		}
		assert.Equal(t, "world", w.Name())
		a, b := dup(w), dup(w)
		assert.Equal(t, "dup of world", a.Name())
		assert.Equal(t, "dup#2 of world", b.Name())
		assert.Equal(t, "dup of dup#2", dup(b).Name())
		assert.Equal(t, "world#2", shrink(shrink(w)).Name())
		assert.Equal(t, "dup of world#2", shrink(shrink(a)).Name())
		deep := w
		for range 20 {
			deep = shrink(dup(deep))
		}
		assert.Less(t, len(deep.Name()), 40, deep.Name())

		a.SetName("halo")
		assert.Equal(t, "halo", a.Name())
		assert.Equal(t, map[int]string{0: "halo: rank 0 of 2", 1: "halo: rank 1 of 2"}[w.Rank()], a.String())
		assert.ErrorContains(t, comm.Send(ctx, a.To(9), []int{1}), "send on halo: ")
		a.SetName(strings.Repeat("é", 100))
		assert.LessOrEqual(t, len(a.Name()), 64)
		assert.Equal(t, "", strings.Trim(a.Name(), "é"), "no half of a letter")
		a.SetName("")
		assert.Equal(t, "dup of world", a.Name())
	})
	assert.Equal(t, "no communicator", (*comm.Comm)(nil).String())
}

// TestManyCommunicators: the first communicator without memory of its own causes one warning.
func TestManyCommunicators(t *testing.T) {
	r, out, err := os.Pipe()
	require.NoError(t, err)
	told, stderr := make(chan string, 1), os.Stderr
	go func() {
		b, _ := io.ReadAll(r)
		told <- string(b)
	}()
	os.Stderr = out
	defer func() { os.Stderr = stderr }()
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for range 70 {
			_, err := w.Dup(ctx)
			assert.NoError(t, err)
		}
	})
	require.NoError(t, out.Close())
	text := <-told
	assert.Equal(t, 1, strings.Count(text, "\n"), text)
	assert.Contains(t, text, "goulfm: rank 0 of dup#6")
	assert.Contains(t, text, "only 63 have shared memory")
}

// TestLogReceivesEvents: with Config.Log an event is a record, and stderr stays empty.
func TestLogReceivesEvents(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	commtest.Config{Comm: comm.Config{Log: log}}.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for range 70 {
			_, err := w.Dup(ctx)
			assert.NoError(t, err)
		}
	})
	assert.Equal(t, 1, strings.Count(out.String(), "\n"), out.String())
	assert.Contains(t, out.String(), `level=WARN msg="too many communicators" comm="dup#6`)
}
