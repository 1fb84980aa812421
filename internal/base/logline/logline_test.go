package logline

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteToALogger(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	Write(log, Event{Level: slog.LevelWarn, Name: "version not written", Values: []slog.Attr{slog.Int("rank", 3), Error(errors.New("disk full"))}}, "rank %d", 3)
	assert.Equal(t, "level=WARN msg=\"version not written\" rank=3 error=\"disk full\"\n", out.String())
}

func TestWriteWithoutALogger(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	os.Stderr = w
	Write(nil, Event{Name: "repaired", Values: []slog.Attr{slog.Int("rank", 3)}}, "rank %d: 100%% back", 3)
	require.NoError(t, w.Close())
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "goulfm: rank 3: 100% back\n", string(text))
}
