package engine

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
)

// TestUnreceivedIsTold: messages that have come and were not received are reported in Finalize,
// once, with their number and the source of the first; nothing is reported where there are none.
func TestUnreceivedIsTold(t *testing.T) {
	world := inproc.New(3)
	told := make([][]string, 3)
	var all sync.WaitGroup
	for me := range 3 {
		p := New(world.Port(me), Config{SpinPolls: 20, OnUnreceived: func(text string) { told[me] = append(told[me], text) }})
		defer p.Close()
		all.Go(func() {
			if me == 1 {
				for _, to := range []int{0, 0, 2} {
					assert.NoError(t, p.World().Send(bg, Envelope{Rank: to, Tag: 7 + to}, nil))
				}
			}
			if me == 2 {
				_, err := p.World().Recv(bg, Envelope{Rank: 1, Tag: 9}, nil)
				assert.NoError(t, err)
			}
			assert.NoError(t, p.Finalize(bg))
		})
	}
	all.Wait()
	assert.Equal(t, [][]string{{"2 messages were never received, the first from rank 1 of world with tag 7"}, nil, nil}, told)
}
