package watch_test

import (
	"context"
	"testing"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/joblaunch/watchserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHowItEnds: after Close the iteration ends without an error, after the context's end with its
// cause, and break loses nothing.
func TestHowItEnds(t *testing.T) {
	post, err := watchserver.New(t.TempDir(), nil)
	require.NoError(t, err)
	defer post.Close()
	w, err := watch.OpenAt(t.Context(), post.Path())
	require.NoError(t, err)
	for e, err := range w.Events() {
		require.NoError(t, err)
		assert.Equal(t, watch.Complete, e.What)
		break
	}
	post.Tell(watch.Event{What: watch.Joined, Proc: 3})
	for e, err := range w.Events() {
		require.NoError(t, err)
		assert.Equal(t, watch.Event{Seq: 1, What: watch.Joined, Proc: 3}, e)
		break
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for e, err := range w.Events() {
			t.Errorf("%v, %v", e, err)
		}
	}()
	require.NoError(t, w.Close())
	<-ended

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err = watch.OpenAt(ctx, post.Path())
	require.NoError(t, err)
	for e, err := range w.Events() {
		switch e.What {
		case watch.Present:
		case watch.Complete:
			cancel()
		default:
			assert.ErrorIs(t, err, context.Canceled)
		}
	}
	require.ErrorIs(t, w.Register("late"), context.Canceled)
	_ = w.Close()
}

// TestRegisterIsRefused: names are words that people can read, and one process has one.
func TestRegisterIsRefused(t *testing.T) {
	post, err := watchserver.New(t.TempDir(), nil)
	require.NoError(t, err)
	w, err := watch.OpenAt(t.Context(), post.Path())
	require.NoError(t, err)
	defer func() { _ = w.Close() }()
	for _, name := range []string{"", "two\nlines", string(make([]byte, 101)), "\xff"} {
		assert.ErrorIs(t, w.Register(name), watch.ErrRefused, name)
	}
	require.NoError(t, w.Register("indexer 1 ü"))
	err = w.Register("indexer 1 ü")
	require.ErrorIs(t, err, watch.ErrRefused)
	assert.ErrorContains(t, err, `another process that lives has the name "indexer 1 ü"`)
	post.Close()
	assert.ErrorIs(t, w.Register("late"), watch.ErrNoJob)
	var last watch.Event
	for e, err := range w.Events() {
		require.NoError(t, err)
		last = e
	}
	assert.Equal(t, watch.Over, last.What)
}
