package control

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// groupCall is a creation from a group that all members of the group make.
type groupCall struct {
	members []int
	tag     int
	tokens  map[int]uint64 // by process that has made the call
}

// groupRun is a cluster whose processes make creations from groups on one parent.
type groupRun struct {
	*cluster
	rng    *rand.Rand
	parent func(p int) uint32
	calls  []*groupCall
	next   []int // by process: the next call to make
	closes bool  // the parent is closed while calls are open
	closed map[int]bool
}

func newGroupRun(t *testing.T, seed uint64) *groupRun {
	rng := rand.New(rand.NewPCG(seed, 57))
	n := 2 + rng.IntN(5)
	c := newCluster(t, n)
	r := &groupRun{cluster: c, rng: rng, parent: newIndex(c.all(world, call(commstate.KindDup))), next: make([]int, n), closes: rng.IntN(4) == 0, closed: map[int]bool{}}
	for range 1 + rng.IntN(6) {
		members := rng.Perm(n)[:1+rng.IntN(n)]
		r.calls = append(r.calls, &groupCall{members: members, tag: rng.IntN(2), tokens: map[int]uint64{}})
	}
	return r
}

// proceed lets p make its next call, if there is one.
func (r *groupRun) proceed(p int) bool {
	for r.next[p] < len(r.calls) {
		g := r.calls[r.next[p]]
		r.next[p]++
		if slices.Contains(g.members, p) {
			ev := call(commstate.KindCreateGroup)
			ev.Comm, ev.Members, ev.Tag = r.parent(p), slices.Clone(g.members), g.tag
			g.tokens[p] = r.propose(p, ev)
			return true
		}
	}
	if r.closes && !r.closed[p] {
		r.closed[p] = true
		ev := call(commstate.KindClose)
		ev.Comm = r.parent(p)
		r.propose(p, ev)
	}
	return false
}

// somewhere makes one random step: a delivery, a call, a revocation, a death, a notice or a poll.
func (r *groupRun) somewhere(revokes, kills bool) {
	n := len(r.procs)
	p := r.rng.IntN(n)
	switch k := r.rng.IntN(100); {
	case k < 60:
		if from := r.rng.IntN(n); from != p && !r.dead.Has(p) {
			r.deliver(from, p)
		}
	case k < 80:
		if !r.dead.Has(p) {
			r.proceed(p)
		}
	case k < 83 && revokes:
		r.step(p, Revoke{Comm: r.parent(p)})
	case k < 88 && kills && len(r.live()) > 1 && !r.dead.Has(p):
		r.die(p)
		if r.rng.IntN(2) == 0 {
			r.lose(p)
		}
	case k < 94 && !r.dead.IsEmpty():
		victims := r.dead.Slice()
		r.step(p, Exited{Proc: victims[r.rng.IntN(len(victims))]})
	case onNode:
		r.look()
	}
}

// settle gives all notices, makes all remaining calls, and delivers all frames.
func (r *groupRun) settle() {
	for p := range r.dead.All() {
		r.notice(p)
	}
	for _, p := range r.live() {
		for r.proceed(p) {
		}
	}
	r.run()
}

// check returns the number of calls that made a communicator at all their members.
func (r *groupRun) check(revokes bool) (made int) {
	for i, g := range r.calls {
		var with, without []int
		var uid commstate.UID
		for p, token := range g.tokens {
			if r.dead.Has(p) {
				continue
			}
			d, ok := r.got[p][token]
			switch out := d.Outcome; {
			case !ok:
				r.t.Fatalf("call %d among %v: process %d is not answered\n%s", i, g.members, p, r.procs[p].Describe())
			case out.New == nil:
				without = append(without, p)
				if !r.excused(g, out.Err, revokes) {
					r.t.Fatalf("call %d among %v: process %d gets %v", i, g.members, p, out.Err)
				}
			case !slices.Equal(out.New.Procs, g.members) || len(with) > 0 && out.New.UID != uid:
				r.t.Fatalf("call %d among %v: process %d has %v %v", i, g.members, p, out.New.UID, out.New.Procs)
			default:
				uid, with = out.New.UID, append(with, p)
			}
		}
		switch {
		case len(without) == 0 && len(with) > 0:
			made++
		case len(with) == 0:
		case !revokes && !r.closes:
			r.t.Fatalf("call %d among %v: made at %v, not at %v", i, g.members, with, without)
		case revokes && !r.closes:
			for _, p := range with { // R56: a member that has the communicator learns that others do not
				if index := r.got[p][g.tokens[p]].Outcome.New.Index; !r.procs[p].IsRevoked(index) {
					r.t.Fatalf("call %d among %v: process %d has what %v do not have, and it is not revoked\n%s", i, g.members, p, without, r.procs[p].Describe())
				}
			}
		}
	}
	return made
}

// excused reports whether the events of the run explain an error.
func (r *groupRun) excused(g *groupCall, err error, revokes bool) bool {
	switch {
	case errors.Is(err, ulfm.ErrProcFailed):
		return slices.ContainsFunc(g.members, r.dead.Has)
	case errors.Is(err, ulfm.ErrRevoked):
		return revokes || r.closes // a member that has closed the parent takes no part any more
	}
	return r.closes && errors.Is(err, commstate.ErrFreed)
}

// nothingLeft checks that no hidden communicator and no invitation is left, and that the parent is
// revoked only in runs with revocations.
func (r *groupRun) nothingLeft(revokes bool) {
	for _, p := range r.live() {
		for i, s := range r.procs[p].comm.all() {
			switch {
			case s.state == Pending:
				r.t.Fatalf("process %d: index %d is still pending\n%s", p, i, r.procs[p].Describe())
			case s.state != Live:
			case s.comm.hidden != nil, len(s.comm.gatherings) > 0, len(s.comm.early) > 0:
				r.t.Fatalf("process %d: left over on %d: hidden %v, gatherings %d, invitations %d\n%s", p, i, s.comm.hidden != nil, len(s.comm.gatherings), len(s.comm.early), r.procs[p].Describe())
			}
		}
		if n := r.count[p].revoked[r.parent(p)]; n > 0 && !revokes {
			r.t.Fatalf("process %d: the parent is revoked, and nobody has", p)
		}
		if k := r.count[p]; len(k.anomaly) > 0 || k.fenced {
			r.t.Fatalf("process %d: %v, fenced %v", p, k.anomaly, k.fenced)
		}
	}
}

// TestSpecR15R57OnlyMembersOfTheGroupMatter: random groups gather on one parent, with deaths,
// revocations and a close of the parent at any time, and frames of different senders in any order.
// Every call is answered: for all living members of the group alike, unless a revocation overtakes
// it, and by success if no member of the group dies. Nothing is left of the communicators on which
// they agreed.
func TestSpecR15R57OnlyMembersOfTheGroupMatter(t *testing.T) {
	for _, memory := range []bool{false, true} {
		onNode = memory
		made, failed := 0, 0
		for seed := range uint64(3000) {
			t.Run(fmt.Sprint(seed, memory), func(t *testing.T) {
				r := newGroupRun(t, seed)
				revokes, kills := seed%3 == 1, seed%2 == 1
				for range r.rng.IntN(250) {
					r.somewhere(revokes, kills)
				}
				r.settle()
				ok := r.check(revokes)
				made, failed = made+ok, failed+len(r.calls)-ok
				r.nothingLeft(revokes)
			})
			if t.Failed() {
				break
			}
		}
		if made < 3000 || failed < 1000 {
			t.Errorf("%d made, %d not: the test is too tame", made, failed)
		}
	}
	onNode = false
}

// TestGatheringsAreBounded: the call beyond gatheringsMax is refused, and so is the invitation of a
// peer that exceeds the bound.
func TestGatheringsAreBounded(t *testing.T) {
	c := newCluster(t, 2)
	ev := call(commstate.KindCreateGroup)
	ev.Members = []int{0, 1}
	for range gatheringsMax {
		c.propose(0, ev)
	}
	token := c.propose(0, ev)
	if d, ok := c.got[0][token]; !ok || !errors.Is(d.Outcome.Err, commstate.ErrLength) {
		t.Errorf("one more: %+v", d)
	}
	c.run()
	f := memberFrame{part: commstate.PartGather, msg: invitation{uid: commstate.UID{1}}.append(nil)}
	c.step(1, Receive{From: 0, Frame: f.append(nil)})
	if got := c.count[1].anomaly; len(got) != 1 {
		t.Errorf("anomalies: %q", got)
	}
	for range gatheringsMax { // all still wait
		c.propose(1, ev)
	}
	c.run()
	for token := range uint64(gatheringsMax) {
		if d := c.got[0][token+1]; d.Outcome.New == nil {
			t.Errorf("call %d: %+v", token+1, d)
		}
	}
}

// TestGatheringsCostAnEntryEach: a gathering costs one entry like other calls, for any number of
// blocks. The host learns only of the communicators that gatherings make.
func TestGatheringsCostAnEntryEach(t *testing.T) {
	const calls = 100
	c := newClusterWith(t, 2, Config{Blocks: 63})
	ev := call(commstate.KindCreateGroup)
	ev.Members = []int{0, 1}
	for range calls {
		c.all(newIndex(c.all(world, ev)), call(commstate.KindClose))
	}
	for p := range 2 {
		tab := &c.procs[p].comm
		if int(tab.entries.n) > calls+calls/32+1 || int(tab.hidden.n) != calls || len(c.count[p].reserved) != calls || len(c.count[p].forgot) != calls {
			t.Errorf("process %d: %d entries, %d hidden, %d reserved, %d forgotten", p, tab.entries.n, tab.hidden.n, len(c.count[p].reserved), len(c.count[p].forgot))
		}
	}
}

// TestInvitationsThatCannotBe requires that invalid invitations are reported and have no effect.
func TestInvitationsThatCannotBe(t *testing.T) {
	c := newCluster(t, 3)
	ev := call(commstate.KindCreateGroup)
	ev.Members = []int{0, 1}
	c.propose(0, ev)
	uid := c.procs[0].comm.live(World).gatherings[0].uid
	for what, msg := range map[string][]byte{
		"short":         {1, 2, 3},
		"no index":      uid[:],
		"too long":      append(invitation{uid: uid, index: 3}.append(nil), 0),
		"of a stranger": invitation{uid: uid, index: 3}.append(nil),
	} {
		before := len(c.count[0].anomaly)
		c.step(0, Receive{From: 2, Frame: memberFrame{part: commstate.PartGather, msg: msg}.append(nil)})
		if len(c.count[0].anomaly) != before+1 {
			t.Errorf("%s: not reported", what)
		}
	}
	c.propose(1, ev)
	c.run()
	if d := c.got[0][1]; d.Outcome.New == nil {
		t.Errorf("%+v", d)
	}
}

// TestGatheringFollowsTheParentsMode: a failure revokes neither the hidden communicator
// nor the parent once the parent has left uniform mode.
func TestGatheringFollowsTheParentsMode(t *testing.T) {
	c := newCluster(t, 3)
	for p := range 3 {
		c.step(p, Uniform{Comm: World, On: true})
	}
	ev := call(commstate.KindCreateGroup)
	ev.Members = []int{0, 1, 2}
	for p := range 3 {
		c.propose(p, ev)
	}
	for _, link := range [][2]int{{0, 1}, {2, 1}, {1, 0}, {2, 0}, {0, 2}, {1, 2}} {
		c.deliver(link[0], link[1]) // an invitation
	}
	for p := range 3 {
		c.step(p, Uniform{Comm: World, On: false})
	}
	c.kill(2)
	c.run()
	for p := range 2 {
		d := c.got[p][uint64(p)+1]
		require.ErrorIs(t, d.Outcome.Err, ulfm.ErrProcFailed, "process %d", p)
		require.False(t, c.procs[p].IsRevoked(World), "process %d", p)
	}
}

// TestDeathEndsTwoGatherings: 0 waits for 2 in two gatherings, and 1 has answered in both that it
// does not take part. The death of 2 opens the first gathering, which revokes the parent. This ends
// the second gathering before its turn.
func TestDeathEndsTwoGatherings(t *testing.T) {
	c := newCluster(t, 3)
	tokens := map[int]uint64{}
	for tag := range 2 {
		ev := call(commstate.KindCreateGroup)
		ev.Members, ev.Tag = []int{0, 1, 2}, tag
		tokens[tag] = c.propose(0, ev)
		c.propose(1, ev)
	}
	c.runAmong([]int{0, 1}) // their invitations
	c.step(1, Revoke{Comm: World})
	c.deliver(1, 0) // the answers that 1 does not take part
	c.deliver(1, 0)
	c.die(1)
	c.lose(1)
	c.notice(1)
	c.kill(2)
	for _, token := range tokens {
		require.ErrorIs(t, c.got[0][token].Outcome.Err, ulfm.ErrRevoked)
	}
	require.Equal(t, 1, c.count[0].revoked[World])
}

// TestGatheringEndsWithTheParent: 3 has closed the parent before the invitation of 0 arrives. The
// gathering is open at 0 and waits for 3; it ends because 0 has closed the parent too.
func TestGatheringEndsWithTheParent(t *testing.T) {
	c := newCluster(t, 4)
	parent := newIndex(c.all(world, call(commstate.KindDup)))
	ev := call(commstate.KindCreateGroup)
	ev.Members = []int{0, 3}
	tokens := map[int]uint64{}
	for _, p := range []int{3, 0} {
		ev.Comm = parent(p)
		tokens[p] = c.propose(p, ev)
		c.deliver(3, 0)
	}
	end := call(commstate.KindClose)
	for p := range 4 {
		end.Comm = parent(p)
		c.propose(p, end)
	}
	late := c.queue[0][3]
	c.queue[0][3] = nil
	c.run()
	c.queue[0][3] = late
	c.run()
	for _, p := range []int{0, 3} {
		if d, ok := c.got[p][tokens[p]]; !ok || !errors.Is(d.Outcome.Err, commstate.ErrFreed) {
			t.Errorf("process %d: %+v\n%s", p, d, c.procs[p].Describe())
		}
		for i, s := range c.procs[p].comm.all() {
			if i != World && (s.state == Live || s.state == Pending) {
				t.Errorf("process %d: index %d is %v", p, i, s.state)
			}
		}
	}
}
