package sched

import "fmt"

// world executes the plans of all ranks with real Execs on symbolic contents.
type world struct {
	v     *Verifier
	order Order
	drawn int

	execs  []Exec
	hosts  []rankHost
	flags  []uint8 // by step: the progress of a message
	depth  []int32 // by step: messages in the longest chain up to its end
	knows  []uint64
	words  int
	saved  []int   // by step of an eager Send: the place of its contents in kept
	kept   []value // contents under way
	events []event
	head   int
	err    error
}

// An event completes a Send, or moves a message and completes its Recv.
type event struct {
	id   int32 // step
	rank int32
}

const (
	begun uint8 = 1 << iota
	eager
	moved
)

type rankHost struct {
	w    *world
	rank int
}

// run executes all ranks under one order and checks the results and the claims.
func (v *Verifier) run(o Order) error {
	w := &v.world
	v.runs++
	w.reset(v, o)
	for r := range v.Plans {
		w.execs[r].Start(&v.Plans[r], &w.hosts[r])
	}
	for r := range v.Plans {
		w.drive(r)
	}
	for w.err == nil && w.head < len(w.events) {
		w.handle(w.pick())
	}
	if w.err != nil {
		return w.err
	}
	for r := range v.Plans {
		if done, _ := w.execs[r].Done(); !done {
			return w.stuck(r)
		}
	}
	if err := w.results(); err != nil {
		return err
	}
	return w.claims()
}

func (w *world) reset(v *Verifier, o Order) {
	n, steps := v.c.N, int(v.first[v.c.N])
	w.v, w.order, w.drawn, w.err = v, o, 0, nil
	if v.sets == nil || v.sets.n != n || v.sets.ordered == v.alg.Commutative {
		v.sets = newSets(n, !v.alg.Commutative)
	}
	for len(w.execs) < n {
		w.execs = append(w.execs, Exec{})
	}
	w.hosts = resize(w.hosts, n)
	w.flags, w.depth, w.saved = resize(w.flags, steps), resize(w.depth, steps), resize(w.saved, steps)
	clear(w.flags)
	clear(w.depth)
	w.events, w.head, w.kept = w.events[:0], 0, w.kept[:0]
	w.words = 0
	if v.alg.Verb == Barrier {
		w.words = (n + 63) / 64
		w.knows = resize(w.knows, steps*w.words)
		clear(w.knows)
	}
	clear(v.cells)
	for r := range n {
		w.hosts[r] = rankHost{w, r}
		if w.execs[r].Outstanding() > 0 {
			w.execs[r] = Exec{} // the last execution failed
		}
		m := &v.memories[r]
		v.c.contribute(v.alg.Verb, m, v.buffer(r, Input), v.buffer(r, Output))
	}
}

func (v *Verifier) buffer(r int, b Buf) []value {
	return v.cells[v.base[r][b] : v.base[r][b]+v.size[r][b]]
}

func (w *world) fail(r int, i int32, format string, args ...any) {
	if w.err == nil {
		w.err = w.v.wrong(r, int(i), format, args...)
	}
}

func (w *world) draw(n int) int {
	w.drawn++
	c := Case{Seed: w.order.Seed}
	return c.draw(n, saltPlace, w.drawn, n)
}

func (w *world) pick() event {
	i := w.head
	switch w.order.Pick {
	case Newest:
		i = len(w.events) - 1
	case Random:
		i += w.draw(len(w.events) - w.head)
	}
	ev := w.events[i]
	if w.order.Pick == Newest {
		w.events = w.events[:i]
		return ev
	}
	w.events[i] = w.events[w.head]
	w.head++
	return ev
}

// drive starts the messages that rank r may start.
func (w *world) drive(r int) {
	x := &w.execs[r]
	for i, ok := x.Next(); ok && w.err == nil; i, ok = x.Next() {
		w.begin(r, int32(i))
	}
}

func (w *world) begin(r int, i int32) {
	id := w.v.first[r] + i
	s := &w.v.Plans[r].Steps[i]
	w.enter(r, i, id)
	if s.before != none && w.flags[w.v.first[r]+s.before]&begun == 0 {
		w.fail(r, i, "started before step %d", s.before)
		return
	}
	w.flags[id] |= begun
	mate := w.v.mate[id]
	if s.Kind == Recv {
		for k := range s.Len {
			w.v.cells[w.v.at(r, s.Dst)+k] = arriving
		}
	} else if w.order.Send == Eager || w.order.Send == Mixed && w.draw(2) == 0 {
		w.flags[id] |= eager
		w.saved[id] = len(w.kept)
		w.kept = w.take(r, i, s, w.kept)
		w.events = append(w.events, event{id, int32(r)})
	}
	if w.flags[mate]&begun != 0 {
		to, rank := id, r
		if s.Kind == Send {
			to, rank = mate, int(s.Peer)
		}
		w.events = append(w.events, event{to, int32(rank)})
	}
}

// enter computes the depth of step i of rank r, and in a barrier the ranks that it knows of.
func (w *world) enter(r int, i, id int32) {
	for k := range w.words {
		w.knows[int(id)*w.words+k] = 0
	}
	if w.words > 0 {
		w.knows[int(id)*w.words+r/64] |= 1 << (r % 64)
	}
	for _, a := range w.v.Plans[r].After(int(i)) {
		w.inherit(id, w.v.first[r]+a, 0)
	}
}

func (w *world) inherit(id, from, hops int32) {
	w.depth[id] = max(w.depth[id], w.depth[from]+hops)
	for k := range w.words {
		w.knows[int(id)*w.words+k] |= w.knows[int(from)*w.words+k]
	}
}

// take appends the elements that a Send reads.
func (w *world) take(r int, i int32, s *Step, to []value) []value {
	at := w.v.at(r, s.Src)
	for k, x := range w.v.cells[at : at+s.Len] {
		w.readable(r, i, x, k)
	}
	return append(to, w.v.cells[at:at+s.Len]...)
}

func (w *world) readable(r int, i int32, x value, k int) {
	if x == 0 || x == arriving {
		w.fail(r, i, "element %d is read and %s", k, [...]string{"was never written", "may be arriving"}[x])
	}
}

// handle completes a Send, or moves a message and completes its Recv.
func (w *world) handle(ev event) {
	r, i := int(ev.rank), ev.id-w.v.first[ev.rank]
	s := &w.v.Plans[r].Steps[i]
	if s.Kind == Send {
		w.execs[r].Completed(int(i))
		w.drive(r)
		return
	}
	from, sender := w.v.mate[ev.id], int(s.Peer)
	sent := w.v.step(sender, from)
	var contents []value
	if w.flags[from]&eager != 0 {
		contents = w.kept[w.saved[from] : w.saved[from]+s.Len]
	} else {
		kept := len(w.kept)
		w.kept = w.take(sender, from-w.v.first[sender], sent, w.kept)
		contents = w.kept[kept:]
		w.kept = w.kept[:kept]
		w.events = append(w.events, event{from, s.Peer})
	}
	copy(w.v.cells[w.v.at(r, s.Dst):], contents)
	w.inherit(ev.id, from, 1)
	w.flags[ev.id] |= moved
	w.execs[r].Completed(int(i))
	w.drive(r)
}

// Do performs a local step on symbolic contents.
func (h *rankHost) Do(i int) {
	w, v := h.w, h.w.v
	s := &v.Plans[h.rank].Steps[i]
	w.enter(h.rank, int32(i), v.first[h.rank]+int32(i))
	dst, src := v.at(h.rank, s.Dst), v.at(h.rank, s.Src)
	if s.Kind == Copy && dst == src {
		return
	}
	for k := range s.Len {
		x := v.cells[src+k]
		w.readable(h.rank, int32(i), x, k)
		if s.Kind == Reduce && w.err == nil {
			y := v.cells[v.at(h.rank, s.With)+k]
			w.readable(h.rank, int32(i), y, k)
			x = w.combine(h.rank, int32(i), x, y, k)
		}
		if w.err != nil {
			return
		}
		v.cells[dst+k] = x
	}
}

func (w *world) combine(r int, i int32, x, y value, k int) value {
	if w.err != nil {
		return x
	}
	u, ok := w.v.sets.union(x.set(), y.set())
	if x.element() != y.element() || !ok {
		w.fail(r, i, "element %d combines %s with %s", k, w.v.sets.show(x), w.v.sets.show(y))
		return x
	}
	return valueOf(x.element(), u)
}

// stuck returns an error that names the message for which rank r waits.
func (w *world) stuck(r int) error {
	for i := range w.v.Plans[r].Steps {
		if id := w.v.first[r] + int32(i); w.flags[id]&begun != 0 && w.flags[id]&moved == 0 {
			if m := w.v.mate[id]; m != none && w.flags[m]&begun == 0 {
				return fmt.Errorf("%w: %w", errDeadlock, w.v.wrong(r, i, "the other end never starts"))
			}
		}
	}
	return fmt.Errorf("%w: rank %d does not end", errDeadlock, r)
}

// results compares every Output with the expected contents. Places that the verb does not define,
// and Input, must not have changed.
func (w *world) results() error {
	v := w.v
	for r := range v.Plans {
		m := &v.memories[r]
		extent := make([]value, v.base[r][Scratch]-w.start(r))
		at := func(b Buf) []value {
			off := v.base[r][b] - w.start(r)
			return extent[off : off+v.size[r][b]]
		}
		v.c.contribute(v.alg.Verb, m, at(Input), at(Output))
		v.c.expect(v.alg.Verb, m, v.sets, at(Output))
		for k, want := range extent {
			if got := v.cells[w.start(r)+k]; got != want {
				return fmt.Errorf("%w: rank %d, element %d of its memory is %s instead of %s",
					errResult, r, k, v.sets.show(got), v.sets.show(want))
			}
		}
	}
	return nil
}

// start returns the place of the first buffer of rank r.
func (w *world) start(r int) int { return min(w.v.base[r][Input], w.v.base[r][Output]) }

// show prints a value for an error message.
func (s *sets) show(x value) string {
	switch x {
	case 0:
		return "nothing"
	case arriving:
		return "something arriving"
	}
	var ranks []int
	for r := range s.n {
		if s.bits[int(x.set())*s.words+r/64]&(1<<(r%64)) != 0 {
			ranks = append(ranks, r)
		}
	}
	return fmt.Sprintf("element %d of block %d of %v", x.element()&0xffff, x.element()>>16, ranks)
}

// claims compares the depth with the claim, and after a barrier requires that every rank knows of
// every rank.
func (w *world) claims() error {
	deepest := int32(0)
	for _, d := range w.depth {
		deepest = max(deepest, d)
	}
	if _, claimed := w.v.alg.Claim(w.v.c); claimed != int(deepest) {
		return fmt.Errorf("chain of %d messages, claimed %d", deepest, claimed)
	}
	if w.words == 0 || w.v.c.N == 1 {
		return nil
	}
	for r := range w.v.Plans {
		heard := make([]uint64, w.words)
		for id := w.v.first[r]; id < w.v.first[r+1]; id++ {
			for k := range heard {
				heard[k] |= w.knows[int(id)*w.words+k]
			}
		}
		for q := range w.v.c.N {
			if heard[q/64]&(1<<(q%64)) == 0 {
				return fmt.Errorf("%w: rank %d leaves without having heard of rank %d", errResult, r, q)
			}
		}
	}
	return nil
}
