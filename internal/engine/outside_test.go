package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// TestNoMessageOfANonMember: a process that is no member of a communicator writes a frame
// with the index that the communicator has at rank 1, where it is open. A receive from any
// source takes the message of the member that comes after it. (The process is of a lower
// number than the members: those above all members have no queue.)
func TestNoMessageOfANonMember(t *testing.T) {
	index, sent := make(chan uint32, 1), make(chan bool)
	run(t, 3, func(_ *cluster, w *Comm) error {
		color := 0
		if w.Rank() == 0 {
			color = 1
		}
		_, half, err := w.Call(bg, commstate.Call{Kind: commstate.KindSplit}, Contribution{Color: color}, "split")
		if err != nil {
			return err
		}
		switch w.Rank() {
		case 0:
			p, ctx := w.Proc(), dataContext(<-index, PointToPoint)
			p.mu.Lock()
			ok := p.trySend(1, &transport.Header{Kind: transport.Eager, Ctx: ctx, Tag: 5, Size: 1}, []byte{1})
			p.mu.Unlock()
			assert.True(t, ok)
			close(sent)
			return w.Send(bg, Envelope{Rank: 1, Tag: 1}, nil)
		case 2:
			<-sent
			return half.Send(bg, Envelope{Rank: 0, Tag: 5}, []byte{9})
		}
		index <- half.group.Index
		if _, err := w.Recv(bg, Envelope{Rank: 0, Tag: 1}, nil); err != nil { // behind the frame
			return err
		}
		buf := []byte{0}
		st, err := half.Recv(bg, Envelope{Rank: Any, Tag: 5}, buf)
		assert.Equal(t, 2, st.Proc)
		assert.Equal(t, byte(9), buf[0])
		return err
	})
}
