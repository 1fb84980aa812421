package engine

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/member"
	"github.com/goulfm/goulfm/internal/transport/inproc"
)

// TestAgreementBesideAPlainOne: one goroutine has entered an agreement the fast way and polls
// for the other member; a second goroutine of the rank starts another agreement behind it. Both
// end once the other member has made two agreements.
func TestAgreementBesideAPlainOne(t *testing.T) {
	ctx, stop := context.WithTimeout(bg, time.Minute)
	defer stop()
	world := inproc.New(2)
	// No tick: while the background loop leads nobody enters an agreement the fast way.
	here, there := New(world.Port(0), Config{SpinPolls: 1 << 40, Tick: time.Hour}), New(world.Port(1), Config{SpinPolls: 20})
	defer here.Close()
	defer there.Close()
	agree := func(w *Comm) error {
		out, _, err := w.Call(ctx, member.Call{Kind: member.KindAgree}, Contribution{Flag: 6}, "agree")
		assert.EqualValues(t, 6, out.Flag)
		return err
	}
	for range 20 {
		var first sync.WaitGroup
		first.Go(func() { assert.NoError(t, agree(here.World())) })
		awaitUnderLock(here, func() bool { return here.world.plain != nil })
		flag := uint64(6)
		h, err := here.World().StartAgree(&flag)
		require.NoError(t, err)
		here.node.MoveEpoch() // the first goroutine stops polling, and leads
		awaitUnderLock(here, func() bool { return here.epochSeen.Load() == here.node.Epoch() })
		for range 2 {
			require.NoError(t, agree(there.World()))
		}
		_, err = here.Wait(ctx, h)
		require.NoError(t, err)
		first.Wait()
	}
}

// awaitUnderLock returns once cond, asked with p.mu held, holds.
func awaitUnderLock(p *Proc, cond func() bool) {
	for {
		p.mu.Lock()
		holds := cond()
		p.mu.Unlock()
		if holds {
			return
		}
		runtime.Gosched()
	}
}
