package nodemem

import (
	"bytes"
	"testing"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/stretchr/testify/require"
)

// world holds the processes of a node, with the memory of agreements for successive communicators.
type world []*Node

func newWorld(t *testing.T, n int) (w world) {
	t.Helper()
	job := inproc.New(n)
	for me := range n {
		port := job.Port(me).Link.(*transport.Port)
		require.NoError(t, port.ReachAll(func(int) bool { return false }))
		node := NewNode(me, n, port.Block)
		w = append(w, &node)
	}
	return w
}

// open returns the views of the members of a communicator of all processes. Each process has drawn
// this context index.
func (w world) open(index uint32) (views []*Series) {
	g := commstate.Group{Index: index}
	for me, n := range w {
		g.Procs, g.Indices = append(g.Procs, me), append(g.Indices, index)
		n.Prepare(index)
	}
	for me, n := range w {
		g.Me = me
		views = append(views, &n.Open(g)[commstate.SeriesCreate])
	}
	return views
}

// TestContributionsOfAllLengths: other members read the contributions and values of a member,
// beside the lines or too long for that place.
func TestContributionsOfAllLengths(t *testing.T) {
	const n, writer, reader, slot = 150, 149, 1, 3
	views := newWorld(t, n).open(2)
	longMax, valueMax := onenode.LongMax(n), onenode.ValueMax(n)
	if longMax <= segment.ContributionBytes || valueMax <= segment.ValueBytes(n) {
		t.Fatalf("%d and %d bytes fit beside the lines: too few members for this test", longMax, valueMax)
	}
	seq := uint64(slot)
	for _, size := range []int{1, segment.ContributionBytes, segment.ContributionBytes + 1, longMax} {
		long := bytes.Repeat([]byte{byte(size)}, size)
		line := onenode.Line{Call: 7, Flag: ^uint64(5), LongBytes: uint32(size)}
		views[writer].Publish(slot, seq, line, long)
		if got, there := views[reader].Read(writer, slot, seq); !there || got != line {
			t.Errorf("a line of %d bytes: %+v, %v", size, got, there)
		}
		if got := views[reader].Long(writer, slot, size); !bytes.Equal(got, long) {
			t.Errorf("%d bytes beside a line: %d others", size, len(got))
		}
		seq += onenode.Slots
	}
	fits := segment.ValueBytes(n) - valueHead
	for _, size := range []int{0, 1, fits, fits + 1, valueMax, 2} {
		value := bytes.Repeat([]byte{byte(size + 1)}, size)
		views[writer].Offer(slot, value)
		if got := views[reader].Value(writer, slot); !bytes.Equal(got, value) || got == nil && size > 0 {
			t.Errorf("a value of %d bytes: %d others", size, len(got))
		}
	}
}

// TestBlockOfAnother: once another communicator has the blocks, a slow member of the first one
// reads no data, short or long, regardless of which communicator wrote longer data.
func TestBlockOfAnother(t *testing.T) {
	const n, slot, seq = 150, 1, 1
	w := newWorld(t, n)
	index := uint32(2)
	for _, c := range []struct{ before, after int }{{1, 1}, {1, onenode.ValueMax(n)}, {onenode.ValueMax(n), 1}, {onenode.ValueMax(n), onenode.ValueMax(n)}} {
		first := w.open(index)
		index += segment.Blocks + 1 // a communicator with the same blocks
		publish := func(views []*Series, size int) {
			long := bytes.Repeat([]byte{1}, min(size, onenode.LongMax(n)))
			views[5].Publish(slot, seq, onenode.Line{LongBytes: uint32(len(long))}, long)
			views[5].Offer(slot, bytes.Repeat([]byte{2}, size))
		}
		publish(first, c.before)
		publish(w.open(index), c.after)
		if _, there := first[0].Read(5, slot, seq); there {
			t.Errorf("%+v: a line of another communicator", c)
		}
		if got := first[0].Long(5, slot, 1); got != nil {
			t.Errorf("%+v: a contribution to another communicator's agreement", c)
		}
		if got := first[0].Value(5, slot); got != nil {
			t.Errorf("%+v: a value of another communicator, of %d bytes", c, len(got))
		}
	}
}
