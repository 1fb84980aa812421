package engine

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ask(p *Proc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leads.ask()
}

// TestAskAMemberThatComputes: a member that is not in Finalize leaves a question unanswered. Once
// it is in Finalize, the wait ends, but after the message that it has sent last.
func TestAskAMemberThatComputes(t *testing.T) {
	c := handmade(t, 2, Config{})
	waiter, member := c.procs[0], c.procs[1]
	got := make([]byte, 1)
	first, err := waiter.World().Irecv(Envelope{Rank: 1, Tag: 1}, got)
	require.NoError(t, err)
	second, err := waiter.World().Irecv(Envelope{Rank: 1, Tag: 2}, make([]byte, 1))
	require.NoError(t, err)
	ask(waiter)
	lookAt(member)
	lookAt(waiter)
	_, over, err := waiter.Test(first)
	assert.False(t, over, "it computes: %v", err)

	require.NoError(t, member.World().Send(context.Background(), Envelope{Rank: 0, Tag: 1}, []byte{7}))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.Error(t, member.Finalize(ctx), "it is still in Finalize")
	member.ending.busy = true
	ask(waiter)
	lookAt(member)
	lookAt(waiter)
	_, over, err = waiter.Test(first)
	assert.True(t, over)
	assert.NoError(t, err)
	assert.EqualValues(t, 7, got[0])
	_, over, err = waiter.Test(second)
	assert.True(t, over)
	assert.ErrorIs(t, err, ErrFinalized)
}
