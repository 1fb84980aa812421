package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/transport"
	"github.com/goulfm/goulfm/internal/transport/inproc"
)

// gathering is a link to another node that keeps frames until somebody writes them out.
type gathering struct {
	transport.Link
	kept, written int
}

func (g *gathering) TrySend(int, *transport.Header, []byte) bool { g.kept++; return true }
func (g *gathering) WriteOut(int)                                { g.WriteAllOut() }
func (g *gathering) WriteAllOut()                                { g.written, g.kept = g.written+g.kept, 0 }
func (g *gathering) Near() *transport.Port                       { return nil }
func (g *gathering) Away() []bool                                { return []bool{false, true} }
func (g *gathering) PutBack(int)                                 {}
func (g *gathering) Part()                                       {}
func (g *gathering) Parted(func(int) bool) bool                  { return true }
func (g *gathering) Describe() []string                          { return nil }

// TestGatheredFramesAreWrittenBeforeAWait: a frame that the link gathers until the leader looks next is written at once while
// the leader sleeps, and before its sender waits for a word in memory.
func TestGatheredFramesAreWrittenBeforeAWait(t *testing.T) {
	end := inproc.New(2).Port(0)
	link := &gathering{Link: end.Link}
	p := New(transport.End{Node: end.Node, Link: link}, Config{SpinPolls: 1, Nodes: []int{0, 1}, Tick: time.Hour})
	defer p.Close()
	w := NewWatch(p.World(), p.World(), true)
	require.NoError(t, w.Tell(bg, 1, make([]byte, 40)))
	p.mu.Lock()
	assert.Equal(t, 1, link.kept)
	p.mu.Unlock()

	p.leads.asleep.Store(true)
	require.NoError(t, w.Tell(bg, 1, make([]byte, 40)))
	p.leads.asleep.Store(false)
	p.mu.Lock()
	assert.Equal(t, 2, link.written, "the leader sleeps")
	p.mu.Unlock()

	near := &Watch{c: w.c, node: w.node, epoch: w.epoch, stores: w.stores} // of a window whose memory is all on this node
	require.NoError(t, w.Tell(bg, 1, make([]byte, 40)))
	bell, asked := new(uint32), 0
	near.Await(bell, func() bool { asked++; return asked > 3 })
	p.mu.Lock()
	assert.Equal(t, 3, link.written, "the sender waits")
	p.mu.Unlock()
}
