package server

import (
	"bytes"
	"context"
	"io"
	"log"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/internal/results"
	"github.com/goulfm/goulfm/gridrpc/internal/session"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// keeper returns a server without a network that holds results in a store.
func keeper(ctx context.Context, store checkpoint.Store) *Server {
	return &Server{shelf: results.New(store, "s1"), log: log.New(io.Discard, "", 0), ctx: ctx, news: make(chan struct{}, 1),
		attempts: map[session.CallID]*attempt{}, keeps: map[session.CallID]*attempt{}}
}

// TestResultsOutliveTheirServer: the next incarnation of a server that died holds its large results
// for the rest of their time. A client that has a stream keeps its result to the end of the stream.
func TestResultsOutliveTheirServer(t *testing.T) {
	store := checkpoint.Dir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		dies := keeper(ctx, store)
		large := bytes.Repeat([]byte("x"), shelfFrom+1)
		a := &attempt{call: session.CallID{1}, number: 2, service: "f", keep: time.Hour, done: true, result: large}
		b := &attempt{call: session.CallID{2}, number: 1, service: "f", keep: time.Hour, done: true, result: large[:9]}
		for _, one := range []*attempt{a, b} {
			one.limit(ctx, 0)
			dies.hold(one)
		}
		assert.Nil(t, a.result, "it is in the store")
		assert.Len(t, b.result, 9)
		time.Sleep(40 * time.Minute)

		next := keeper(ctx, store)
		next.attempts[a.call] = &attempt{number: 1} // of another server, before
		next.takeOver(ctx)
		held := next.keeping()
		require.Len(t, held, 1, "small results end with their server")
		assert.Equal(t, kept{call: a.call, attempt: 2, service: "f", done: true}, held[0])
		again := next.attempts[a.call]
		again.update(func() { again.streams++ })
		require.NoError(t, next.fetch(ctx, again))
		assert.Equal(t, large, again.result)

		time.Sleep(20*time.Minute - time.Second)
		assert.Len(t, next.keeping(), 1)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Empty(t, next.keeping(), "its time is over")
		assert.Equal(t, large, again.result, "a stream still needs it")
		all, err := next.shelf.List(ctx)
		require.NoError(t, err)
		assert.Empty(t, all)
		cancel()
		time.Sleep(24 * time.Hour)
	})
}
