package control

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// newIndex returns the index of the communicator that p's decision made.
func newIndex(got map[int]Decided) func(p int) uint32 {
	return func(p int) uint32 {
		if got[p].Outcome.New == nil {
			return 1 << 31
		}
		return got[p].Outcome.New.Index
	}
}

// TestSingleProcess: everything works, at once, in a world of one.
func TestSingleProcess(t *testing.T) {
	c := newCluster(t, 1)
	for _, kind := range []commstate.Kind{commstate.KindAgree, commstate.KindAgreeFailed, commstate.KindShrink, commstate.KindDup, commstate.KindSplit, commstate.KindFinalize} {
		d := c.all(world, call(kind))[0]
		if d.Outcome.Err != nil {
			t.Errorf("%v: %v", kind, d.Outcome.Err)
		}
		if made := d.Outcome.New != nil; made != d.Outcome.Call.DrawsIndex() {
			t.Errorf("%v made a communicator: %v", kind, made)
		}
	}
	if got := c.procs[0].State(World); got != Freed {
		t.Errorf("the finalized world is %v", got)
	}
}

// TestR10RevokeReachesAll kills relays and the revoker in the middle of the flood, and loses their
// frames in flight. Once the deaths are known, the communicator is revoked at all survivors or at
// none.
func TestR10RevokeReachesAll(t *testing.T) {
	reached, lost := 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 10))
		n := 3 + rng.IntN(14)
		c := newCluster(t, n)
		c.step(rng.IntN(n), Revoke{Comm: World})
		for range 2 * n {
			if from, to := rng.IntN(n), rng.IntN(n); from != to && !c.dead.Has(to) {
				c.deliver(from, to)
			}
			if p := rng.IntN(n); rng.IntN(4) == 0 && len(c.live()) > 2 && !c.dead.Has(p) {
				c.die(p)
				c.lose(p)
			}
		}
		for p := range c.dead.All() {
			c.notice(p)
		}
		c.run()
		revoked := 0
		for _, p := range c.live() {
			revoked += c.count[p].revoked[World]
		}
		switch revoked {
		case len(c.live()):
			reached++
		case 0:
			lost++
		default:
			t.Fatalf("seed %d: %d of %d are revoked", seed, revoked, len(c.live()))
		}
	}
	if reached < 100 || lost == 0 {
		t.Errorf("reached %d, lost with their bearers %d: the test is too tame", reached, lost)
	}
}

// TestR12RevokeOnce: concurrent and repeated revokes are one revocation.
func TestR12RevokeOnce(t *testing.T) {
	c := newCluster(t, 6)
	for p := range 6 {
		c.step(p, Revoke{Comm: World})
		c.step(p, Revoke{Comm: World})
	}
	c.run()
	for p := range 6 {
		if got := c.count[p].revoked[World]; got != 1 {
			t.Errorf("process %d: revoked %d times", p, got)
		}
	}
}

// TestR13CreateOnRevoked: creations fail at once, agree and shrink work.
func TestR13CreateOnRevoked(t *testing.T) {
	c := newCluster(t, 4)
	c.step(2, Revoke{Comm: World})
	c.run()
	for p, d := range c.all(world, call(commstate.KindDup)) {
		if !errors.Is(d.Outcome.Err, ulfm.ErrRevoked) || len(c.count[p].reserved) != 0 {
			t.Errorf("process %d: dup on a revoked communicator: %v", p, d.Outcome.Err)
		}
	}
	for _, kind := range []commstate.Kind{commstate.KindAgree, commstate.KindAgreeFailed, commstate.KindShrink} {
		for p, d := range c.all(world, call(kind)) {
			if d.Outcome.Err != nil {
				t.Errorf("process %d: %v on a revoked communicator: %v", p, kind, d.Outcome.Err)
			}
		}
	}
}

// TestR16RevokeStays: neither the parent nor a child of a revoked communicator is revoked.
func TestR16RevokeStays(t *testing.T) {
	c := newCluster(t, 3)
	child := newIndex(c.all(world, call(commstate.KindDup)))
	grandchild := newIndex(c.all(child, call(commstate.KindDup)))
	c.step(1, Revoke{Comm: child(1)})
	c.run()
	for p := range 3 {
		if c.procs[p].IsRevoked(World) || !c.procs[p].IsRevoked(child(p)) || c.procs[p].IsRevoked(grandchild(p)) {
			t.Errorf("process %d:\n%s", p, c.procs[p].Describe())
		}
	}
}

// TestR31DeclaredBeforeDecided: a member that gets an error from agree can ask for the failed
// members, even if only another process had noticed the failure.
func TestR31DeclaredBeforeDecided(t *testing.T) {
	c := newCluster(t, 8)
	c.die(6)
	c.step(2, Exited{Proc: 6})
	c.step(0, Exited{Proc: 6})
	tokens := map[int]uint64{}
	for _, p := range c.live() {
		tokens[p] = c.propose(p, call(commstate.KindAgree))
	}
	order := map[int][]string{}
	c.log = func(format string, args ...any) {
		order[args[0].(int)] = append(order[args[0].(int)], args[1].(string))
	}
	c.run()
	for _, p := range c.live() {
		if !slices.Contains(c.procs[p].Failed(World).All(), 6) {
			t.Errorf("process %d does not know of 6", p)
		}
		if last := order[p][len(order[p])-1]; !strings.HasPrefix(last, "decided") {
			t.Errorf("process %d: %q", p, order[p])
		}
	}
}

// TestR36AcknowledgeAndAgree: the idiom {acknowledge all; agree} until success
// ends with equal acknowledged sets, with deaths noticed in between.
func TestR36AcknowledgeAndAgree(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 36))
		n := 3 + rng.IntN(7)
		c := newCluster(t, n)
		for round := 0; ; round++ {
			if round > n+2 {
				t.Fatalf("seed %d: no success after %d rounds", seed, round)
			}
			if p := rng.IntN(n); len(c.live()) > 2 && rng.IntN(2) == 0 && !c.dead.Has(p) {
				c.die(p)
				c.step(c.live()[rng.IntN(len(c.live()))], Exited{Proc: p})
			}
			for p := range c.dead.All() {
				c.notice(p)
			}
			for _, p := range c.live() {
				if _, err := c.procs[p].Failed(World).Ack(n); err != nil {
					t.Fatal(err)
				}
			}
			got := c.all(world, call(commstate.KindAgree))
			first := got[c.live()[0]].Outcome
			if first.Err != nil {
				continue
			}
			for _, p := range c.live() {
				acked := c.procs[p].Failed(World).Acked()
				slices.Sort(acked)
				if got[p].Outcome.Err != nil || !slices.Equal(acked, first.Dead) {
					t.Errorf("seed %d: process %d acknowledged %v, agreed %v, error %v", seed, p, acked, first.Dead, got[p].Outcome.Err)
				}
			}
			break
		}
	}
}

// TestR42ShrinkWithoutFailure: same group, another communicator.
func TestR42ShrinkWithoutFailure(t *testing.T) {
	c := newCluster(t, 5)
	first := c.all(world, call(commstate.KindShrink))
	second := c.all(world, call(commstate.KindShrink))
	for p := range 5 {
		a, b := first[p].Outcome.New, second[p].Outcome.New
		if a == nil || b == nil || !slices.Equal(a.Procs, []int{0, 1, 2, 3, 4}) || a.UID == b.UID || a.Index == b.Index {
			t.Errorf("process %d: %+v, %+v", p, a, b)
		}
	}
}

// TestR38ShrinkLeavesOutTheKnownDead: a process that any member knew to be dead when that member
// entered is not in the new group.
func TestR38ShrinkLeavesOutTheKnownDead(t *testing.T) {
	c := newCluster(t, 9)
	c.die(4)
	c.die(8)
	c.step(7, Exited{Proc: 4})
	tokens := map[int]uint64{}
	for _, p := range c.live() {
		tokens[p] = c.propose(p, call(commstate.KindShrink))
	}
	c.run()
	c.notice(8) // its children and parent have waited for 8
	c.notice(4)
	c.run()
	for _, p := range c.live() {
		d := c.got[p][tokens[p]]
		if d.Outcome.New == nil || !slices.Equal(d.Outcome.New.Procs, []int{0, 1, 2, 3, 5, 6, 7}) {
			t.Errorf("process %d: %+v", p, d.Outcome)
		}
	}
}

// TestR62FinalizeSurvives: with any deaths at any time, and notices of departures in any order, all
// survivors finalize.
func TestR62FinalizeSurvives(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 62))
		n := 2 + rng.IntN(9)
		c := newCluster(t, n)
		for p := range n {
			c.propose(p, call(commstate.KindFinalize))
		}
		for range 3 * n {
			if from, to := rng.IntN(n), rng.IntN(n); from != to {
				c.deliver(from, to)
			}
			if p := rng.IntN(n); rng.IntN(5) == 0 && len(c.live()) > 1 && !c.dead.Has(p) && !c.gone.Has(p) {
				if c.count[p].forgot[World] > 0 {
					c.gone.Add(p)
				} else {
					c.die(p)
				}
				c.lose(p)
			}
		}
		for p := range c.dead.All() {
			c.notice(p)
		}
		for p := range c.gone.All() {
			for _, q := range c.live() {
				c.step(q, Left{Proc: p})
			}
		}
		c.run()
		for _, p := range c.live() {
			if c.count[p].forgot[World] != 1 {
				t.Fatalf("seed %d: process %d of %d cannot finalize, dead %v, left %v\n%s", seed, p, n, c.dead, c.gone, c.procs[p].Describe())
			}
		}
	}
}

// TestFreeForgets: a thousand communicators that were made and freed leave only an index each, and
// no index is drawn twice (A15).
func TestFreeForgets(t *testing.T) {
	c := newCluster(t, 3)
	for range 1000 {
		index := newIndex(c.all(world, call(commstate.KindDup)))
		c.all(index, call(commstate.KindClose))
	}
	for p := range 3 {
		k := c.procs[p]
		if k.comm.entries.n != 1001 || len(c.count[p].forgot) != 1000 {
			t.Errorf("process %d: %d indices, %d forgotten", p, k.comm.entries.n, len(c.count[p].forgot))
		}
		for i := range k.comm.entries.n - 1 {
			s := k.comm.at(i + 1)
			if s.state != Freed || s.comm != nil || s.wait != nil {
				t.Fatalf("process %d: index %d is %v", p, i+1, s.state)
			}
		}
	}
}

// TestForgottenAncestorsAreGone: a descendant of a forgotten communicator does not keep it in
// memory, over any number of generations.
func TestForgottenAncestorsAreGone(t *testing.T) {
	c := newCluster(t, 2)
	at := world
	var past []weak.Pointer[communicator]
	for range 10 {
		next := newIndex(c.all(at, call(commstate.KindShrink)))
		if at(0) != World {
			past = append(past, weak.Make(c.procs[0].comm.live(at(0))))
			c.all(at, call(commstate.KindClose))
		}
		at = next
	}
	runtime.GC()
	for i, p := range past {
		if p.Value() != nil {
			t.Errorf("generation %d is still in memory", i+1)
		}
	}
	runtime.KeepAlive(c)
}

// TestB3DigestsRepair: a revocation that the flood cannot repeat is found by comparing digests
// after the next death.
func TestB3DigestsRepair(t *testing.T) {
	c := newCluster(t, 4)
	c.step(1, Revoke{Comm: World})
	for p := range 4 {
		c.lose(p)
	}
	c.kill(3)
	c.run()
	for _, p := range c.live() {
		if !c.procs[p].IsRevoked(World) {
			t.Errorf("process %d is not revoked", p)
		}
	}
}

// TestRingDeclares: the ring detector drives the same path; its frames and deadlines pass through
// Control.
func TestRingDeclares(t *testing.T) {
	cfg := Config{Detector: fd.Config{Mode: fd.Ring, Fence: true}}
	c := newClusterWith(t, 5, cfg)
	c.die(2)
	end := mono.Time(5 * mono.Second)
	for now := mono.Time(0); now < end; {
		next := end
		for _, p := range c.live() {
			if at, ok := c.procs[p].Deadline(); ok {
				next = min(next, max(at, now+1))
			}
		}
		now = next
		for _, p := range c.live() {
			c.step(p, Tick{Now: now})
		}
		c.run()
	}
	for _, p := range c.live() {
		if c.count[p].declared[2] != 1 || len(c.count[p].declared) != 1 || c.procs[p].Failed(World).Len() != 1 {
			t.Errorf("process %d declares %v", p, c.count[p].declared)
		}
	}
}

// TestMalformedFrames: each is reported, and none changes the state.
func TestMalformedFrames(t *testing.T) {
	for name, frame := range map[string][]byte{
		"empty":             {},
		"unknown class":     {99},
		"short member":      {classMember, 0},
		"no index":          {classMember, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"never drawn":       memberFrame{to: 77, part: 0, seq: 1}.append(nil),
		"part":              memberFrame{to: 0, part: 9, seq: 1}.append(nil),
		"era message":       memberFrame{to: 0, part: 0, seq: 1, msg: []byte{1, 2, 3}}.append(nil),
		"flood message":     memberFrame{to: 0, part: commstate.PartRevoke, msg: []byte{77}}.append(nil),
		"short digest":      {classDigest, 1, 2},
		"long digest":       append([]byte{classDigest}, make([]byte, 9)...),
		"list":              {classList, 1, 2, 3},
		"closed":            {classClosed},
		"closed, not drawn": closedNote{to: 9}.append(nil),
		"detector":          {classDetector, 77},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			before := c.procs[0].Describe()
			c.step(0, Receive{From: 1, Frame: frame})
			if len(c.count[0].anomaly) != 1 || c.procs[0].Describe() != before {
				t.Errorf("anomalies %q\n%s", c.count[0].anomaly, c.procs[0].Describe())
			}
		})
	}
}

// TestHeldFramesAreBounded: a peer that floods a pending index fills its share
// and no more.
func TestHeldFramesAreBounded(t *testing.T) {
	c := newCluster(t, 2)
	c.propose(0, call(commstate.KindDup))
	for i := range 10 * heldPerPeer {
		c.step(0, Receive{From: 1, Frame: memberFrame{to: 1, seq: uint64(i)}.append(nil)})
		c.step(0, Receive{From: 1, Frame: memberFrame{to: 1, seq: uint64(i)}.append(nil)}) // repeated: held once
	}
	if held := len(c.procs[0].comm.at(1).wait.held); held != heldPerPeer {
		t.Errorf("%d frames held, want %d", held, heldPerPeer)
	}
	if len(c.count[0].anomaly) == 0 {
		t.Error("nothing reported")
	}
}

// TestOutboxBound bounds the messages of one Step to one peer: for each communicator, two messages
// for each agreement that is open or remembered in the three series, and a few of its flood; and a
// few for the process. The worst event is a death.
func TestOutboxBound(t *testing.T) {
	const n = 6
	const perComm = 3*2*(era.Window+1) + 4
	worst := 0
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		c := newCluster(t, n)
		for range era.Window + 4 {
			for p := range n {
				c.propose(p, call(commstate.KindAgree))
				c.propose(p, call(commstate.KindDup))
			}
		}
		if rng.IntN(2) == 0 {
			c.step(rng.IntN(n), Revoke{Comm: World})
		}
		for range 400 {
			p := rng.IntN(n)
			var acts []Action
			switch rng.IntN(40) {
			case 0:
				q := rng.IntN(n)
				if len(c.live()) > 2 {
					c.die(q)
				}
				if c.dead.Has(q) && q != p {
					acts = c.step(p, Exited{Proc: q})
				}
			default:
				q := rng.IntN(n)
				if len(c.queue[q][p]) > 0 && !c.dead.Has(p) {
					frame := c.queue[q][p][0]
					c.queue[q][p] = c.queue[q][p][1:]
					acts = c.step(p, Receive{From: q, Frame: frame})
				}
			}
			to := map[int]int{}
			for _, a := range acts {
				if s, ok := a.(Send); ok {
					to[s.To]++
					worst = max(worst, to[s.To])
				}
			}
			if comms := int(c.procs[p].comm.entries.n); worst > comms*perComm+4 {
				t.Fatalf("seed %d: %d frames for one peer in one Step, %d communicators", seed, worst, comms)
			}
		}
	}
	if worst < era.Window/2 {
		t.Errorf("worst is %d: the test is too tame", worst)
	}
	t.Logf("at most %d frames for one peer in one Step", worst)
}

// FuzzReceive gives a process with pending, live and freed communicators
// arbitrary frames: it must not panic, and hold no more than its bound.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	for _, seed := range framesOfARun(f) {
		f.Add(seed, uint8(1))
	}
	f.Fuzz(func(t *testing.T, script []byte, death uint8) {
		c := newCluster(t, 4)
		c.all(world, call(commstate.KindDup))
		freed := newIndex(c.all(world, call(commstate.KindDup)))
		c.all(freed, call(commstate.KindClose))
		c.propose(0, call(commstate.KindSplit))
		c.propose(0, call(commstate.KindAgree))
		gather := call(commstate.KindCreateGroup)
		gather.Members = []int{2, 0, 1}
		c.propose(0, gather)
		if death%4 != 0 {
			c.step(0, Exited{Proc: int(death % 4)})
		}
		k := c.procs[0]
		r := wire.NewReader(script)
		for r.Err() == nil {
			from := 1 + r.Below(3)
			frame := r.Bytes()
			for _, a := range k.Step(Receive{From: from, Frame: frame}) {
				if s, ok := a.(Send); ok && (s.To < 0 || s.To >= 4 || s.To == 0) {
					t.Fatalf("a frame for process %d", s.To)
				}
			}
		}
		for _, s := range k.comm.all() {
			if s.wait != nil && len(s.wait.held) > 3*heldPerPeer {
				t.Fatalf("%d frames held", len(s.wait.held))
			}
			if s.comm != nil && len(s.comm.early) > 3*gatheringsMax {
				t.Fatalf("%d invitations held", len(s.comm.early))
			}
		}
	})
}

// framesOfARun returns scripts for FuzzReceive made of real frames.
func framesOfARun(tb testing.TB) [][]byte {
	c := newCluster(tb, 4)
	var scripts [][]byte
	var all []byte
	gather := call(commstate.KindCreateGroup)
	gather.Members = []int{2, 0, 1}
	for p := range 4 {
		c.propose(p, call(commstate.KindDup))
		c.propose(p, call(commstate.KindAgree))
		if p < 3 {
			c.propose(p, gather)
		}
	}
	c.step(3, Revoke{Comm: World})
	c.step(2, Exited{Proc: 1})
	for range 3 {
		for from := 1; from < 4; from++ {
			for _, frame := range c.queue[from][0] {
				one := wire.AppendBytes(wire.AppendUint(nil, uint64(from-1)), frame)
				scripts = append(scripts, one)
				all = append(all, one...)
			}
		}
		c.run()
	}
	return append(scripts, all)
}

// TestOrphanIsLeftOut: 1 gives the dup up, closes the parent and never learns that 0 has the
// duplicate. The closing agreement notifies 0, which then no longer waits for 1.
func TestOrphanIsLeftOut(t *testing.T) {
	c := newCluster(t, 2)
	c.propose(0, call(commstate.KindDup))
	c.propose(1, call(commstate.KindDup))
	c.deliver(1, 0)
	c.lose(0) // in a bigger world: the decision was sent to a process that died
	c.step(1, Revoke{Comm: World})
	c.all(world, call(commstate.KindClose))
	if !c.procs[0].IsRevoked(1) {
		t.Errorf("the duplicate is not revoked at 0")
	}
	token := c.propose(0, Propose{Comm: 1, Call: commstate.Call{Kind: commstate.KindAgree}, Flag: 3})
	if d, ok := c.got[0][token]; !ok || d.Outcome.Err != nil || d.Outcome.Flag != 3 {
		t.Errorf("agree on the duplicate: %+v\n%s", d, c.procs[0].Describe())
	}
}

// TestA6TheDeadAreNotHeard: frames that were in flight from a process when it was declared dead
// change nothing.
func TestA6TheDeadAreNotHeard(t *testing.T) {
	uid := commstate.WorldUID(3)
	for name, frame := range map[string][]byte{
		"list":     uidList{answer: true, uids: []commstate.UID{uid}}.append(nil),
		"digest":   append([]byte{classDigest}, uid[:8]...),
		"closed":   closedNote{to: World}.append(nil),
		"nonsense": {99},
	} {
		c := newCluster(t, 3)
		c.step(0, Exited{Proc: 2})
		c.queue[0] = make([][][]byte, 3)
		if acts := c.step(0, Receive{From: 2, Frame: frame}); len(acts) != 0 || c.procs[0].IsRevoked(World) {
			t.Errorf("%s: %+v", name, acts)
		}
		alive := newCluster(t, 3)
		if acts := alive.step(0, Receive{From: 2, Frame: frame}); len(acts) == 0 {
			t.Errorf("%s of a living process does nothing", name)
		}
	}
}
