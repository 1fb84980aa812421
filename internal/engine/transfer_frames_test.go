package engine

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/ulfm"
)

// lateData is a link whose control frames overtake its data frames, as those of two connections do.
type lateData struct {
	transport.Link
	late atomic.Bool
}

func (l *lateData) Peek(from int) (transport.Frame, bool) {
	if l.late.Load() {
		return transport.Frame{}, false
	}
	return l.Link.Peek(from)
}

// pair returns two processes. All messages to the receiver are frames over the returned link.
func pair(t *testing.T, observe func(Event)) (sender, receiver *Proc, link *lateData) {
	world := inproc.New(2)
	end := world.Port(1)
	link = &lateData{Link: end.Link}
	sender = New(world.Port(0), Config{SpinPolls: 20})
	receiver = New(transport.End{Node: end.Node, Link: link}, Config{SpinPolls: 20, Observe: observe})
	t.Cleanup(func() { sender.Close(); receiver.Close() })
	return sender, receiver, link
}

// lookAt lets all that has come to a process take effect.
func lookAt(p *Proc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progress()
}

const longSize = transport.LongMax + 1

// TestWithdrawalOvertakesItsAnnouncement: the sender of a long message withdraws it, and the
// receiver learns of the withdrawal first. The receiver answers when the announcement comes.
func TestWithdrawalOvertakesItsAnnouncement(t *testing.T) {
	sender, receiver, link := pair(t, nil)
	link.late.Store(true)
	h, err := sender.World().Isend(Envelope{Rank: 1}, make([]byte, longSize))
	require.NoError(t, err)
	sender.mu.Lock()
	r := sender.find(h)
	require.True(t, sender.withdrawSendLocked(r))
	sender.mu.Unlock()
	lookAt(receiver)
	_, over, err := sender.Test(h)
	assert.False(t, over, "before the announcement has come: %v", err)
	link.late.Store(false)
	receiver.mu.Lock()
	receiver.drain(0)
	receiver.mu.Unlock()
	_, over, err = sender.Test(h)
	assert.True(t, over, "the receiver has no answer")
	assert.ErrorIs(t, err, errWithdrawn)
	_, there, err := receiver.World().Iprobe(Envelope{Rank: 0, Tag: Any})
	assert.NoError(t, err)
	assert.False(t, there, "the receiver keeps what was taken back")
}

// TestWithdrawalAfterReceives: announcements that a blocking receive takes straight from the ring
// count as well as others, so a withdrawal later on is answered at once.
func TestWithdrawalAfterReceives(t *testing.T) {
	world := inproc.New(2)
	sender, receiver := New(world.DirectPort(0), Config{SpinPolls: 20}), New(world.DirectPort(1), Config{SpinPolls: 20})
	defer sender.Close()
	defer receiver.Close()
	buf, room := make([]byte, longSize), make([]byte, longSize)
	for range 20 { // most of them are in the ring before the receiver's background loop polls
		h, err := sender.World().Isend(Envelope{Rank: 1}, buf)
		require.NoError(t, err)
		_, err = receiver.World().Recv(bg, Envelope{Rank: 0}, room)
		require.NoError(t, err)
		_, err = sender.Wait(bg, h)
		require.NoError(t, err)
	}
	h, err := sender.World().Isend(Envelope{Rank: 1}, buf)
	require.NoError(t, err)
	sender.mu.Lock()
	assert.True(t, sender.withdrawSendLocked(sender.find(h)))
	sender.mu.Unlock()
	lookAt(receiver)
	_, over, err := sender.Test(h)
	assert.True(t, over, "the receiver has no answer")
	assert.ErrorIs(t, err, errWithdrawn)
}

// TestSenderThatGivesUpSaysSo: a send ends while chunks of it are missing. The receive does not
// wait for them.
func TestSenderThatGivesUpSaysSo(t *testing.T) {
	sender, receiver, _ := pair(t, nil)
	const size = 16 << 20 // more than a ring has room for
	h, err := sender.World().Isend(Envelope{Rank: 1}, make([]byte, size))
	require.NoError(t, err)
	got, err := receiver.World().Irecv(Envelope{Rank: 0}, make([]byte, size))
	require.NoError(t, err)
	lookAt(receiver)
	sender.mu.Lock()
	sender.progress()
	r := sender.find(h)
	require.True(t, r.sending.HasMatched() && !r.done())
	sender.fail(r, ulfm.ErrRevoked)
	sender.mu.Unlock()
	_, err = receiver.Wait(bg, got)
	assert.ErrorIs(t, err, ulfm.ErrRevoked)
}

// TestClaimedMessageOfOnesOwn: a matched probe has a message of this very process whose send is
// cancelled. It has matched: both continue.
func TestClaimedMessageOfOnesOwn(t *testing.T) {
	p := New(inproc.New(1).Port(0), Config{SpinPolls: 20})
	defer p.Close()
	ctx, cancel := context.WithCancel(bg)
	sent := make(chan error)
	go func() { sent <- p.World().Send(ctx, Envelope{Rank: 0, Sync: true}, []byte("own")) }()
	cl, _, err := p.World().Mprobe(bg, Envelope{Rank: 0})
	require.NoError(t, err)
	p.mu.Lock()
	r := p.find(Handle(cl.m.Handle))
	assert.False(t, p.withdrawSendLocked(r), "it has matched")
	p.mu.Unlock()
	cancel()
	buf := make([]byte, 3)
	_, err = cl.Recv(bg, 0, buf)
	assert.NoError(t, err)
	assert.Equal(t, "own", string(buf))
	assert.NoError(t, <-sent)
}

// TestFramesThatMakeNoSense: they are reported, and change nothing.
func TestFramesThatMakeNoSense(t *testing.T) {
	var told []string
	sender, receiver, _ := pair(t, func(e Event) { told = append(told, e.What) })
	h, err := sender.World().Isend(Envelope{Rank: 1}, make([]byte, longSize))
	require.NoError(t, err)
	receiver.mu.Lock()
	for kind := rendezvous.KindGrant; kind <= rendezvous.KindGone+1; kind++ {
		receiver.transfers.hear(0, []byte{kind})
	}
	// These could be, and name nothing.
	receiver.transfers.hear(0, rendezvous.Refuse{Send: uint64(h)}.Append(nil))
	receiver.transfers.hear(0, rendezvous.Withdrawn{Send: 99}.Append(nil))
	receiver.transfers.hear(0, rendezvous.Gone{Recv: 99}.Append(nil))
	receiver.mu.Unlock()
	assert.Equal(t, []string{"anomaly", "anomaly", "anomaly", "anomaly", "anomaly", "anomaly"}, told)
	_, err = receiver.World().Recv(bg, Envelope{Rank: 0}, make([]byte, longSize))
	assert.NoError(t, err)
	_, err = sender.Wait(bg, h)
	assert.NoError(t, err)
}
