package node

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The processes of the small world below.
const (
	server = iota
	reader
	origin // on another node; it is dead
	procs
)

// gateWorld runs the gate at a server and at a reader of the same memory, one access to memory at a time,
// in an order that the test chooses.
type gateWorld struct {
	serving map[int]int
	mourned map[int]bool
	died    bool // the daemon has published the death
	stopped bool // the server was killed
	data    int  // what the origin's request changes

	turn [2]chan bool // true: make the next access; false: the process is killed
	done [2]chan bool // true: the process has more to do
}

// killed ends a goroutine of the world.
type killed struct{}

func (w *gateWorld) access(who int) {
	w.done[who] <- true
	if !<-w.turn[who] {
		panic(killed{})
	}
}

// view is what one process does in the memory.
type view struct {
	*gateWorld
	who int
}

func (v view) SetServing(s, o int) { v.access(v.who); v.serving[s] = o + 1 }
func (v view) IsServing(s, o int) bool {
	v.access(v.who)
	return v.serving[s] == o+1
}
func (v view) Mourn(p int)          { v.access(v.who); v.mourned[p] = true }
func (v view) IsMourned(p int) bool { v.access(v.who); return v.mourned[p] }
func (v view) HasDied(int) bool     { v.access(v.who); return v.died }
func (v view) HasStopped(p int) bool {
	v.access(v.who)
	return p == server && v.stopped
}

// serve executes a request that stores twice.
func (w *gateWorld) serve() {
	v := view{w, server}
	if admit(v, server, origin) {
		w.access(server)
		w.data++
		w.access(server)
		w.data++
		v.SetServing(server, -1)
	}
}

// read learns of the death and reads the memory twice.
func (w *gateWorld) read() (first, second int) {
	v := view{w, reader}
	mourn(v, reader, origin, procs, func() { w.access(reader) }, func(int) { w.access(reader) })
	w.access(reader)
	first = w.data
	w.access(reader)
	return first, w.data
}

// start runs a process until its first access.
func (w *gateWorld) start(who int, f func()) {
	w.turn[who], w.done[who] = make(chan bool), make(chan bool)
	go func() {
		defer func() {
			if r := recover(); r != nil && r != any(killed{}) {
				panic(r)
			}
			close(w.done[who])
		}()
		f()
	}()
	<-w.done[who]
}

// play runs one schedule: each entry is the process that makes the next access. The entry kill ends the server.
// It returns which processes could make the access after the last one.
func play(schedule []int) (can []int, first, second int) {
	w := &gateWorld{serving: map[int]int{}, mourned: map[int]bool{}}
	w.start(server, w.serve)
	w.start(reader, func() { first, second = w.read() })
	more := [2]bool{true, true}
	for _, who := range schedule {
		switch who {
		case publish:
			w.died = true
		case kill:
			w.stopped, more[server] = true, false
			w.turn[server] <- false
			<-w.done[server]
		default:
			w.turn[who] <- true
			_, more[who] = <-w.done[who]
		}
	}
	if more[server] {
		can = append(can, server)
		if !w.stopped {
			can = append(can, kill)
		}
	}
	if more[reader] {
		can = append(can, reader)
	}
	if !w.died {
		can = append(can, publish)
	}
	for who := range more { // ends what is left
		if more[who] {
			w.turn[who] <- false
			<-w.done[who]
		}
	}
	return can, first, second
}

const (
	publish = 10 + iota // the daemon publishes the death
	kill                // the server is killed
)

// TestGateInEveryOrder visits each order of single accesses of a server and of a reader that learns of the
// origin's death, by the daemon or earlier, with the death of the server between any two: what the reader sees
// does not change any more.
func TestGateInEveryOrder(t *testing.T) {
	visited := 0
	var visit func(schedule []int)
	visit = func(schedule []int) {
		can, first, second := play(schedule)
		if len(can) == 0 || !slices.Contains(can, reader) {
			visited++
			assert.Equal(t, first, second, "schedule %v", schedule)
			return
		}
		if count(schedule, reader) > 30 && !slices.Contains(can, server) {
			assert.Fail(t, "the reader waits for nobody", "schedule %v", schedule)
			return
		}
		for _, next := range can {
			// A reader that waits makes the same accesses again: twice is enough to see that.
			if next == reader && slices.Contains(can, server) && count(schedule, reader) > 8 {
				continue
			}
			visit(append(slices.Clone(schedule), next))
		}
	}
	visit(nil)
	assert.Greater(t, visited, 1000)
}

func count(schedule []int, who int) (n int) {
	for _, s := range schedule {
		if s == who {
			n++
		}
	}
	return n
}
