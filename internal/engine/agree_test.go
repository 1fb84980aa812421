package engine

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
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
		out, _, err := w.Call(ctx, commstate.Call{Kind: commstate.KindAgree}, Contribution{Flag: 6}, "agree")
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

// TestSpecF13LeaseBeforeReturn: before an agreement between nodes returns the lease is checked, in
// the goroutine that is to continue. Between ranks of one node there is no check.
func TestSpecF13LeaseBeforeReturn(t *testing.T) {
	for _, nodes := range [][]int{{0, 1}, {0, 0}} {
		ctx, stop := context.WithTimeout(bg, time.Minute)
		world := inproc.New(2)
		var heeded [2]int
		var procs []*Proc
		for me := range 2 {
			procs = append(procs, New(world.Port(me), Config{SpinPolls: 20, Nodes: nodes, Heed: func() { heeded[me]++ }}))
		}
		want := 0
		if nodes[0] != nodes[1] {
			want = 1
		}
		var ranks sync.WaitGroup
		for me, p := range procs {
			ranks.Go(func() {
				_, _, err := p.World().Call(ctx, commstate.Call{Kind: commstate.KindAgree}, Contribution{Flag: 1}, "agree")
				assert.NoError(t, err)
				assert.Equal(t, want, heeded[me])
				flag := uint64(1)
				h, err := p.World().StartAgree(&flag)
				assert.NoError(t, err)
				_, err = p.Wait(ctx, h)
				assert.NoError(t, err)
				assert.Equal(t, 2*want, heeded[me])
				h, err = p.World().StartAgree(&flag)
				assert.NoError(t, err)
				_, err = p.WaitAll(ctx, []Handle{h}, nil)
				assert.NoError(t, err)
				assert.Equal(t, 3*want, heeded[me])
				h, err = p.World().Start(commstate.Call{Kind: commstate.KindShrink}, Contribution{}, "shrink")
				assert.NoError(t, err)
				assert.NoError(t, p.WaitSettled(ctx, []Handle{h}))
				_, _, over, err := p.TakeCall(h)
				assert.NoError(t, err)
				assert.True(t, over)
				assert.Equal(t, 4*want, heeded[me])
			})
		}
		ranks.Wait()
		for _, p := range procs {
			p.Close()
		}
		stop()
	}
}
