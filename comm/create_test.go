package comm_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/ulfm"
)

// TestDupIsolates: messages, wildcards and revocations of one communicator do not affect the other.
func TestDupIsolates(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		e, err := d.Dup(ctx)
		ok(t, "dup of a dup", err)
		next, prev := (w.Rank()+1)%3, (w.Rank()+2)%3
		for i, c := range []*comm.Comm{w, d, e} {
			ok(t, "send", comm.Send(ctx, c.To(next), []int{i}))
		}
		for i, c := range []*comm.Comm{e, w, d} { // in another order than sent
			in := []int{-1}
			st, err := comm.Recv(ctx, c.From(comm.Any).Tag(comm.Any), in)
			if wanted := []int{2, 0, 1}[i]; err != nil || st.Source != prev || in[0] != wanted {
				t.Errorf("communicator %d: got %d from %d, %v", wanted, in[0], st.Source, err)
			}
		}
		if !d.Group().Equal(w.Group()) || d.Epoch() != w.Epoch() {
			t.Errorf("a duplicate has members %v, epoch %d", d.Group(), d.Epoch())
		}
		_, err = w.Agree(ctx, 0) // all have received
		ok(t, "agree", err)
		if d.Rank() == 1 {
			ok(t, "revoke", d.Revoke())
		}
		want(t, "revoked", receives["Recv"](ctx, d.From(0)), ulfm.ErrRevoked)
		works(ctx, t, w)
		works(ctx, t, e)
	})
}

// TestSplitOrdersByKeyThenRank within each colour.
func TestSplitOrdersByKeyThenRank(t *testing.T) {
	const n = 7
	for _, c := range []struct {
		name       string
		color, key func(r int) int
		members    map[int][]int // by colour
	}{
		{"all in order", func(int) int { return 0 }, func(int) int { return 0 }, map[int][]int{0: {0, 1, 2, 3, 4, 5, 6}}},
		{"backwards", func(int) int { return 4 }, func(r int) int { return -r }, map[int][]int{4: {6, 5, 4, 3, 2, 1, 0}}},
		{"parity", func(r int) int { return r % 2 }, func(r int) int { return r }, map[int][]int{0: {0, 2, 4, 6}, 1: {1, 3, 5}}},
		{"ties by rank", func(int) int { return 0 }, func(r int) int { return r / 2 * -1 }, map[int][]int{0: {6, 4, 5, 2, 3, 0, 1}}},
		{"each alone", func(r int) int { return r * 1000 }, func(int) int { return 3 }, map[int][]int{0: {0}, 1000: {1}, 2000: {2}, 3000: {3}, 4000: {4}, 5000: {5}, 6000: {6}}},
		{"some want none", func(r int) int {
			if r%3 == 0 {
				return comm.Undefined
			}
			return 1
		}, func(r int) int { return -r }, map[int][]int{1: {5, 4, 2, 1}}},
	} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			color := c.color(w.Rank())
			s, err := w.Split(ctx, color, c.key(w.Rank()))
			ok(t, c.name, err)
			if color == comm.Undefined {
				if s != nil {
					t.Errorf("%s: rank %d wanted none and got one", c.name, w.Rank())
				}
				return
			}
			if got := s.Group().Processes(); !slices.Equal(got, c.members[color]) || got[s.Rank()] != w.Rank() {
				t.Errorf("%s: rank %d is %d of %v, want %v", c.name, w.Rank(), s.Rank(), got, c.members[color])
			}
			works(ctx, t, s)
		})
	}
}

// TestSplitIsUniformWithAWrongColour: no member gets a communicator, each gets the reason, its
// handler once, and the next split works.
func TestSplitIsUniformWithAWrongColour(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		told := 0
		w.SetErrorHandler(func(_ *comm.Comm, err error) error { told++; return err })
		color := 0
		if w.Rank()%3 == 2 {
			color = -5
		}
		s, err := w.Split(ctx, color, 0)
		if color < 0 {
			want(t, "split", err, comm.ErrArgument)
		} else {
			want(t, "split", err, comm.ErrPeerArgument)
			wantRanks(t, err, 2)
		}
		if s != nil || told != 1 {
			t.Errorf("rank %d: made %v, handler told %d times", w.Rank(), s, told)
		}
		s, err = w.Split(ctx, 0, 0)
		ok(t, "next", err)
		works(ctx, t, s)
	})
}

// TestSpecR56CreationIsUniform: a member is dead, or dies before any frame of
// the creation; all the living have the communicator or none has, and where they
// have it, its messages work between them.
func TestSpecR56CreationIsUniform(t *testing.T) {
	const n, victim = 4, 2
	for name, create := range map[string]func(ctx context.Context, w *comm.Comm) (*comm.Comm, error){
		"dup":    func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Dup(ctx) },
		"split":  func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Split(ctx, 0, 0) },
		"create": func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Create(ctx, w.Group()) },
		"create_group": func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) {
			return w.CreateGroup(ctx, w.Group(), 3)
		},
		"cart": func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) {
			return w.Cart(ctx, []int{2, 2}, []bool{true, false}, false)
		},
		"dist_graph": func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) {
			return w.DistGraph(ctx, []int{(w.Rank() + 3) % 4}, []int{(w.Rank() + 1) % 4})
		},
	} {
		for frame := uint64(1); ; frame++ {
			var made ledger[bool]
			came := commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {
				c, err := create(ctx, w)
				if w.Rank() == victim {
					return
				}
				if err != nil && !errors.Is(err, ulfm.ErrProcFailed) || (err == nil) != (c != nil) {
					t.Errorf("%s, frame %d, rank %d: %v, %v", name, frame, w.Rank(), c, err)
				}
				made.note(w.Rank(), c != nil)
				if c != nil && w.Rank() < 2 {
					_, err := comm.SendRecv(ctx, c.To(1-c.Rank()), []int{1}, c.From(1-c.Rank()), []int{0})
					ok(t, name, err)
				}
			})
			made.uniform(t, same, 0, 1, 3)
			if !came {
				break
			}
		}
	}
}

// TestCreateIsOfTheGroupInItsOrder, also of one that is empty; the others get nil.
func TestCreateIsOfTheGroupInItsOrder(t *testing.T) {
	for _, ranks := range [][]int{{0, 1, 2, 3, 4}, {4, 0, 2}, {3}, {}} {
		commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
			g, err := w.Group().Incl(ranks...)
			ok(t, "incl", err)
			c, err := w.Create(ctx, g)
			ok(t, "create", err)
			if !slices.Contains(ranks, w.Rank()) {
				if c != nil {
					t.Errorf("rank %d is not in %v and got %v", w.Rank(), ranks, c.Group())
				}
				return
			}
			if !c.Group().Equal(g) || c.Rank() != slices.Index(ranks, w.Rank()) || c.Epoch() != w.Epoch() {
				t.Errorf("rank %d is %d of %v, want %v", w.Rank(), c.Rank(), c.Group(), ranks)
			}
			works(ctx, t, c)
		})
	}
}

// TestCreateWithWrongGroups: a group that differs from the others', in members or in order alone,
// fails the call at all; a process outside c is an error of the member that passed such a group.
func TestCreateWithWrongGroups(t *testing.T) {
	for odd := range 4 {
		commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
			order := []int{0, 1, 2}
			if w.Rank() == odd {
				order = []int{0, 2, 1}
			}
			g, err := w.Group().Incl(order...)
			ok(t, "incl", err)
			c, err := w.Create(ctx, g)
			want(t, "another order", err, comm.ErrMismatch)
			if c != nil {
				t.Error("made a communicator")
			}
			half, err := w.Split(ctx, bool2int(w.Rank() == odd), 0)
			ok(t, "split", err)
			if w.Rank() == odd {
				return
			}
			g = half.Group()
			first := half.Rank() == 0
			if first {
				g = w.Group()
			}
			_, err = half.Create(ctx, g)
			if first {
				want(t, "with a stranger", err, comm.ErrRank)
			} else {
				want(t, "with a stranger elsewhere", err, comm.ErrPeerArgument)
				wantRanks(t, err, 0)
			}
			c, err = half.Create(ctx, half.Group())
			ok(t, "next", err)
			works(ctx, t, c)
		})
	}
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestCreateMeetsARevocation: the members that wait in vain get an error.
func TestCreateMeetsARevocation(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		if d.Rank() == 3 {
			ok(t, "revoke", d.Revoke())
			return
		}
		c, err := d.Create(ctx, d.Group())
		want(t, "create", err, ulfm.ErrRevoked)
		if c != nil {
			t.Error("made a communicator")
		}
	})
}

// TestSplitNodeIsByNode: the ranks of each node form one communicator, in order, for every layout
// of nodes.
func TestSplitNodeIsByNode(t *testing.T) {
	nodes := []int{1, 0, 1, 7, 0}
	w := inproc.New(len(nodes))
	var wg sync.WaitGroup
	for me, node := range nodes {
		wg.Go(func() {
			p := engine.New(w.Port(me), engine.Config{Nodes: nodes})
			defer p.Close()
			world := door.World(p)
			c, err := world.SplitNode(t.Context())
			ok(t, "split", err)
			want := map[int][]int{0: {1, 4}, 1: {0, 2}, 7: {3}}[node]
			if got := c.Group().Processes(); !slices.Equal(got, want) {
				t.Errorf("rank %d on node %d is with %v, want %v", me, node, got, want)
			}
			works(t.Context(), t, c)
			ok(t, "finalize", world.Finalize(t.Context()))
		})
	}
	wg.Wait()
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) { // one process is one node
		c, err := w.SplitNode(ctx)
		ok(t, "split", err)
		if !c.Group().Equal(w.Group()) {
			t.Errorf("%v of %v", c.Group(), w.Group())
		}
	})
}

// TestSpecR23AcknowledgingDoesNotMakeCreationsSucceed.
func TestSpecR23AcknowledgingDoesNotMakeCreationsSucceed(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 0)
		ok(t, "acknowledge", w.FailureAck())
		_, err := w.Dup(ctx)
		want(t, "dup", err, ulfm.ErrProcFailed)
		wantRanks(t, err, 0)
		_, err = w.Split(ctx, 0, 0)
		want(t, "split", err, ulfm.ErrProcFailed)
	})
}

// TestSpecR58FreeAlwaysWorks: with dead members, revoked, with messages under
// way, and while others still use it.
func TestSpecR58FreeAlwaysWorks(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		used, err := w.Dup(ctx)
		ok(t, "dup", err)
		revoked, err := w.Dup(ctx)
		ok(t, "dup", err)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 3)
		ok(t, "revoke", revoked.Revoke())
		ok(t, "free a revoked one", revoked.Free())
		want(t, "twice", revoked.Free(), comm.ErrFreed)
		if w.Rank() == 0 {
			ok(t, "send", comm.Send(ctx, used.To(1), []int{1}))
			ok(t, "free with a dead member", used.Free())
			return
		}
		in := []int{0}
		if w.Rank() == 1 {
			_, err := comm.Recv(ctx, used.From(0), in)
			if err != nil || in[0] != 1 {
				t.Errorf("the message of who has freed it: %d, %v", in[0], err)
			}
		}
		other := 3 - w.Rank()
		_, err = comm.SendRecv(ctx, used.To(other), []int{w.Rank()}, used.From(other), in)
		if err != nil || in[0] != other {
			t.Errorf("between those who have not freed it: %d, %v", in[0], err)
		}
		ok(t, "free", used.Free())
	})
}

// TestManyCommunicatorsComeAndGo: contexts are given back, none is mixed up.
func TestManyCommunicatorsComeAndGo(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		for i := range 60 {
			d, err := w.Dup(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			in := []int{-1}
			_, err = comm.SendRecv(ctx, d.To((d.Rank()+1)%3), []int{i}, d.From((d.Rank()+2)%3), in)
			if err != nil || in[0] != i {
				t.Errorf("communicator %d: %d, %v", i, in[0], err)
			}
			ok(t, "free", d.Free())
		}
	})
}

// TestGroupAlgebra on the groups of one world, at each rank.
func TestGroupAlgebra(t *testing.T) {
	commtest.Run(t, 5, func(_ context.Context, w *comm.Comm) {
		all := w.Group()
		pick := func(places ...int) comm.Group {
			g, err := all.Incl(places...)
			ok(t, "incl", err)
			return g
		}
		a, b, none := pick(3, 1, 0), pick(4, 1, 3), comm.Group{}
		dropped, err := all.Excl(1, 3)
		ok(t, "excl", err)
		for _, c := range []struct {
			name  string
			group comm.Group
			ranks []int
		}{
			{"all", all, []int{0, 1, 2, 3, 4}},
			{"in the order given", a, []int{3, 1, 0}},
			{"union", a.Union(b), []int{3, 1, 0, 4}},
			{"union the other way", b.Union(a), []int{4, 1, 3, 0}},
			{"union with none", a.Union(none), []int{3, 1, 0}},
			{"none with", none.Union(a), []int{3, 1, 0}},
			{"none with none", none.Union(none), nil},
			{"intersection", a.Intersect(b), []int{3, 1}},
			{"intersection the other way", b.Intersect(a), []int{1, 3}},
			{"difference", a.Difference(b), []int{0}},
			{"difference with itself", a.Difference(a), nil},
			{"excl", dropped, []int{0, 2, 4}},
			{"incl of nothing", pick(), nil},
		} {
			if got := c.group.Processes(); !slices.Equal(got, c.ranks) || c.group.Size() != len(c.ranks) {
				t.Errorf("%s: %v, want %v", c.name, got, c.ranks)
			}
			rank := slices.Index(c.ranks, w.Rank())
			if rank < 0 {
				rank = comm.Undefined
			}
			if c.group.Rank() != rank {
				t.Errorf("%s: rank %d is at %d, want %d", c.name, w.Rank(), c.group.Rank(), rank)
			}
		}
		places, err := a.Translate(b, 0, 1, 2, 0)
		if err != nil || !slices.Equal(places, []int{2, 1, comm.Undefined, 2}) {
			t.Errorf("translate: %v, %v", places, err)
		}
		if a.Equal(b) || !a.Equal(pick(3, 1, 0)) || a.Equal(pick(1, 3, 0)) || !none.Equal(a.Difference(a)) {
			t.Error("equality is that of members in order")
		}
		ranks := all.Processes()
		ranks[0] = 99
		if all.Processes()[0] == 99 || w.Group().Processes()[0] == 99 {
			t.Error("the result of Ranks is not the caller's own")
		}
		if got := a.String(); got != "[3 1 0]" {
			t.Errorf("printed as %s", got)
		}
	})
}

// TestGroupOfAShrunkenCommunicatorKeepsWorldRanks, so that groups of different
// communicators compare.
func TestGroupOfAShrunkenCommunicatorKeepsWorldRanks(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 1)
		s, err := w.Shrink(ctx)
		ok(t, "shrink", err)
		if lost := w.Group().Difference(s.Group()); !lost.Equal(w.GetFailed()) || !slices.Equal(lost.Processes(), []int{1}) {
			t.Errorf("lost %v", lost)
		}
		old, err := s.Group().Translate(w.Group(), 0, 1, 2)
		if err != nil || !slices.Equal(old, []int{0, 2, 3}) {
			t.Errorf("old ranks %v, %v", old, err)
		}
	})
}
