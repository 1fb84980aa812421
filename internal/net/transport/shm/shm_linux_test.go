package shm

import (
	"os"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/net/transport/transporttest"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

const job = 7

// world holds the memory that a launcher makes: one memfd for segment 0 and one for all arenas.
type world struct {
	t      *testing.T
	n      int
	files  []*os.File // segment 0, the arenas
	node   *segment.Node
	arenas map[int]*segment.Arena
	gone   map[int]bool
}

func newWorld(t *testing.T, n int) *world {
	w := &world{t: t, n: n, arenas: map[int]*segment.Arena{}, gone: map[int]bool{}}
	w.create(segment.NodeBytes(n))
	w.create(segment.ArenasBytes(n))
	m, err := segment.Attach(w.files[0].Fd())
	if err != nil {
		t.Fatal(err)
	}
	w.node = segment.FormatNode(m, n, job)
	return w
}

func (w *world) create(size int) {
	f, err := segment.Create("goulfm-test", size)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() })
	w.files = append(w.files, f)
}

// open returns the port of a rank, with mappings of its own.
func (w *world) open(rank int) *transport.Port {
	p, _, err := Open(rank, job, w.files[0].Fd(), w.files[1].Fd())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) Port(rank int) transport.End { return w.open(rank).End() }

func (w *world) Depart(rank int, died bool) {
	if !w.gone[rank] {
		w.gone[rank] = true
		why := segment.Retired
		if died {
			why = segment.Died
		}
		w.node.AppendDeath(rank, why)
	}
	w.node.WakeAll(park.Futex{})
}

func (w *world) Arena(rank int) *segment.Arena {
	if w.arenas[rank] == nil {
		m, err := segment.AttachPart(w.files[1].Fd(), int64(rank*segment.ArenaStride(w.n)), segment.ArenaBytes(w.n))
		if err != nil {
			w.t.Fatal(err)
		}
		if w.arenas[rank], err = segment.OpenArena(m, w.n); err != nil {
			w.t.Fatal(err)
		}
	}
	return w.arenas[rank]
}

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, n int) transporttest.World { return newWorld(t, n) })
}

func TestScribble(t *testing.T) {
	transporttest.Scribble(t, func(t *testing.T, n int) transporttest.SharedWorld { return newWorld(t, n) })
}

func TestOpenRefuses(t *testing.T) {
	w := newWorld(t, 2)
	w.create(2*segment.ArenaStride(2) - 1)
	node, arenas, short := w.files[0].Fd(), w.files[1].Fd(), w.files[2].Fd()
	for _, c := range []struct {
		name   string
		me     int
		job    uint64
		node   uintptr
		arenas uintptr
		want   string
	}{
		{"another job", 0, job + 1, node, arenas, "job"},
		{"rank too large", 2, job, node, arenas, "2 processes"},
		{"negative rank", -1, job, node, arenas, "this is process -1"},
		{"arenas in place of segment 0", 0, job, arenas, arenas, "another kind"},
		{"not a memfd", 0, job, os.Stderr.Fd(), arenas, "is no memfd"},
		{"the last arena is cut off", 0, job, node, short, "bytes at 0 of"},
		{"no room for the own arena", 0, job, node, node, "bytes at 0 of"},
	} {
		if _, _, err := Open(c.me, c.job, c.node, c.arenas); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
