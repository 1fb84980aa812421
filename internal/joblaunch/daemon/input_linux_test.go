package daemon

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInput: Write returns when the process has read all, or reads no more, and counts the bytes
// read.
func TestInput(t *testing.T) {
	theirs, in, err := OpenInput()
	require.NoError(t, err)
	defer in.Close()
	type result struct {
		read int
		err  error
	}
	wrote := make(chan result, 1)
	long := bytes.Repeat([]byte("0123456789"), 10_000)
	write := func(data []byte) {
		n, err := in.Write(data)
		wrote <- result{n, err}
	}

	go write(long)
	got := make([]byte, len(long)-1)
	_, err = io.ReadFull(theirs, got)
	require.NoError(t, err)
	require.Equal(t, long[:len(long)-1], got)
	require.Empty(t, wrote, "a byte is still unread")
	_, err = io.ReadFull(theirs, got[:1])
	require.NoError(t, err)
	require.Equal(t, result{len(long), nil}, <-wrote)

	go write([]byte("a line\nthe rest"))
	_, err = io.ReadFull(theirs, got[:7])
	require.NoError(t, err)
	require.NoError(t, theirs.Close())
	last := <-wrote
	assert.Equal(t, 7, last.read)
	assert.Error(t, last.err)
}
