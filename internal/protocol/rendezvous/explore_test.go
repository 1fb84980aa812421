package rendezvous

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// A model is a small world: the actions of its programs, each in order, and the events that may
// happen to it.
type model struct {
	procs    int
	programs [][]string // by process: commands of a script
	cancels  []string   // ends whose program may need its buffer back
	abandons []string   // sends that may end for a reason that only Gone reports to the receiver
	revokes  []int      // processes that may revoke
	frees    []int      // processes that may free
	dies     []int      // processes that may die
	deaths   int        // upper limit
	states   int        // lower limit of the states visited
}

// models are visited completely.
var models = map[string]model{
	"one message": {
		procs: 2, programs: [][]string{{"send 0 a 1 2"}, {"recv 1 r 0 2"}},
		cancels: []string{"a", "r"}, revokes: []int{0, 1}, dies: []int{0, 1}, deaths: 1, states: 2000,
	},
	"the second follows the first": {
		procs: 2, programs: [][]string{{"send 0 a 1 1", "send 0 b 1 1"}, {"recv 1 r 0 1"}},
		cancels: []string{"a", "b"}, revokes: []int{1}, dies: []int{1}, deaths: 1, states: 2000,
	},
	"both ways": {
		procs: 2, programs: [][]string{{"send 0 a 1 1", "recv 0 s 1 1"}, {"send 1 b 0 1", "recv 1 r 0 1"}},
		cancels: []string{"a"}, dies: []int{0}, deaths: 1, states: 1000,
	},
	"a sender gives up": {
		procs: 2, programs: [][]string{{"send 0 a 1 2"}, {"recv 1 r 0 2"}},
		abandons: []string{"a"}, cancels: []string{"a"}, states: 50,
	},
	"a receiver that frees": {
		procs: 2, programs: [][]string{{"send 0 a 1 2", "send 0 b 1 1"}, {"recv 1 r 0 2"}},
		frees: []int{1}, cancels: []string{"b"}, dies: []int{0}, deaths: 1, states: 500,
	},
	"two senders, one receiver": {
		procs: 3, programs: [][]string{{"send 0 a 2 1"}, {"send 1 b 2 1"}, {"recv 2 r 0 1", "recv 2 s 1 1"}},
		cancels: []string{"a"}, revokes: []int{1}, dies: []int{0}, deaths: 1, states: 5000,
	},
	"a chain": {
		procs: 3, programs: [][]string{{"send 0 a 1 1"}, {"recv 1 r 0 1", "send 1 b 2 1"}, {"recv 2 s 1 1"}},
		cancels: []string{"b"}, revokes: []int{2}, dies: []int{1}, deaths: 1, states: 5000,
	},
}

// event is one step of a world.
type event struct {
	what    string // as a command of a script; program: the next command of a
	a, b, c int
	must    bool // the event happens sooner or later
}

// explorer visits the states of a model.
type explorer struct {
	*testing.T
	model
	seen map[uint64]bool
}

// run is a world with the progress of its programs.
type run struct {
	*world
	done      []int           // by program: commands carried out
	cancelled map[string]bool // ends whose buffers were requested back
	deaths    int
}

func (x *explorer) start() *run {
	r := &run{world: newWorld(x.procs), done: make([]int, x.procs), cancelled: map[string]bool{}}
	r.quiet = true
	return r
}

// TestExplore visits all states: every promise holds in each of them. When no event that must
// happen is left, everything has ended except waits for a message that no process sends or
// receives.
func TestExplore(t *testing.T) {
	for name, m := range models {
		t.Run(name, func(t *testing.T) {
			if m.procs > 2 && testing.Short() {
				t.Skip("takes ten seconds")
			}
			if m.procs > 2 {
				longtest.Skip(t, "takes ten seconds")
			}
			x := &explorer{T: t, model: m, seen: map[uint64]bool{}}
			x.visit(nil)
			assert.GreaterOrEqual(t, len(x.seen), m.states)
			t.Logf("%d states", len(x.seen))
		})
	}
}

// visit checks the state that a path leads to, and all that follow. Each path is replayed from the
// start, because a matcher cannot be copied.
func (x *explorer) visit(path []event) {
	r := x.walk(path)
	key := fnv.New64a()
	_, _ = fmt.Fprint(key, r.state(), r.done, r.cancelled, r.deaths)
	if x.seen[key.Sum64()] {
		return
	}
	x.seen[key.Sum64()] = true
	require.Empty(x, r.wrong, "after %v", path)
	next := x.next(r)
	if !slices.ContainsFunc(next, func(e event) bool { return e.must }) {
		require.Empty(x, r.stuck(), "after %v", path)
	}
	for _, e := range next {
		x.visit(append(slices.Clip(path), e))
	}
}

func (x *explorer) walk(path []event) *run {
	r := x.start()
	for _, e := range path {
		x.take(r, e)
	}
	return r
}

// next returns the possible events.
func (x *explorer) next(r *run) (can []event) {
	revoked := slices.ContainsFunc(r.procs, func(p *proc) bool { return p.revoked })
	for i, p := range r.procs {
		if p.dead {
			continue
		}
		if r.done[i] < len(x.programs[i]) {
			can = append(can, event{what: "program", a: i, must: true})
		}
		if !p.revoked && (revoked || slices.Contains(x.revokes, i)) {
			can = append(can, event{what: "revoke", a: i, must: revoked})
		}
		if !p.freed && !p.revoked && slices.Contains(x.frees, i) {
			can = append(can, event{what: "free", a: i})
		}
		if slices.Contains(x.dies, i) && r.deaths < x.deaths {
			for kept := range 3 {
				can = append(can, event{what: "die", a: i, b: kept})
			}
		}
		can = append(can, x.nextOf(r, p)...)
	}
	return can
}

// nextOf returns the actions of a living process, and the frames that can reach it.
func (x *explorer) nextOf(r *run, p *proc) (can []event) {
	var busy [3]bool // an earlier send waits for room
	for h, e := range p.ends[1:] {
		ev := event{a: p.me, b: h + 1}
		if e.result != "" {
			continue
		}
		if e.send != nil && e.send.IsQueued() && !busy[e.proc] {
			busy[e.proc] = true
			can = append(can, event{what: "publish", a: ev.a, b: ev.b, must: true})
		}
		if e.send != nil && e.send.stage == matched {
			can = append(can, event{what: "push", a: ev.a, b: ev.b, must: true})
		}
		if slices.Contains(x.cancels, e.name) && !r.cancelled[e.name] {
			can = append(can, event{what: "cancel", a: ev.a, b: ev.b})
		}
		if slices.Contains(x.abandons, e.name) {
			can = append(can, event{what: "abandon", a: ev.a, b: ev.b})
		}
	}
	for from, q := range r.procs {
		for lane := range 2 {
			if len(r.lanes[[3]int{from, p.me, lane}]) > 0 {
				can = append(can, event{what: "deliver", a: from, b: p.me, c: lane, must: true})
			}
		}
		if q.dead && !p.knows[from] {
			can = append(can, event{what: "learn", a: p.me, b: from, must: true})
		}
	}
	return can
}

// take lets an event happen.
func (x *explorer) take(r *run, e event) {
	p := r.procs[e.a]
	switch e.what {
	case "program":
		play(x.T, r.world, x.programs[e.a][r.done[e.a]])
		r.done[e.a]++
	case "revoke":
		p.revoke()
	case "free":
		p.free()
	case "die":
		r.deaths++
		r.die(e.a, e.b)
	case "publish":
		p.publish(p.ends[e.b])
	case "push":
		p.push(p.ends[e.b])
	case "cancel":
		r.cancelled[p.ends[e.b].name] = true
		p.cancel(p.ends[e.b])
	case "abandon":
		p.give(p.ends[e.b], "abandoned")
	case "deliver":
		r.deliver(e.a, e.b, e.c)
	case "learn":
		p.learn(e.b)
	}
}
