package membership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestMajoritiesMeet: any two majorities of the same voters have a member in common, and of
// two halves just one is a majority.
func TestMajoritiesMeet(t *testing.T) {
	const members = 5
	sets := 1 << members
	of := func(bits int) rankset.Set { return rankset.FromWords([]uint64{uint64(bits)}) }
	for v := range sets {
		voters := of(v)
		for a := range sets {
			for b := range sets {
				common := of(a & b & v)
				if isMajority(of(a), voters) && isMajority(of(b), voters) {
					require.False(t, common.IsEmpty(), "%v and %v of %v", of(a), of(b), voters)
				}
			}
			rest := of(v &^ a)
			require.Equal(t, v != 0, isMajority(of(a), voters) != isMajority(rest, voters), "%v of %v", of(a), voters)
		}
	}
}

func TestCoordinatorsOfEpochs(t *testing.T) {
	cfg := Config{Members: 3}
	for epoch, coordinator := range []int{0, 1, 2, 0, 1} {
		assert.Equal(t, coordinator, cfg.coordinatorOf(uint32(epoch)))
	}
}

func TestConfigCheck(t *testing.T) {
	require.NoError(t, Config{Members: 3}.Check())
	assert.Equal(t, 100*ms, Config{Members: 201}.WithDefaults().Period)
	assert.Equal(t, 500*ms, Config{Members: 1001}.WithDefaults().Period)
	for name, c := range map[string]Config{
		"nobody":       {},
		"too many":     {Members: MembersMax + 1},
		"who":          {Members: 3, Me: 3},
		"short":        {Members: 3, Period: ms, Timeout: 9 * ms},
		"flaps":        {Members: 3, Survive: true, Period: 100 * ms, Timeout: 300 * ms},
		"link":         {Members: 3, Link: 499 * ms},
		"orphan":       {Members: 3, Orphan: 499 * ms},
		"beat too few": {Members: 3, Period: 100 * ms, Timeout: 150 * ms},
		"no quality":   {Members: 3, Adaptive: &adaptive.QoS{Detection: -1}},
		"few racks":    {Members: 3, Racks: []int{0, 1}},
		"no rack":      {Members: 3, Racks: []int{0, 1, -1}},
		"before lease": {Members: 3, Adaptive: &adaptive.QoS{Detection: 550 * adaptive.Millisecond}},
	} {
		assert.ErrorIs(t, c.Check(), ErrConfig, name)
	}
	require.NoError(t, Config{Members: 3, Adaptive: &adaptive.QoS{Detection: 556 * adaptive.Millisecond}}.Check())
	require.NoError(t, Config{Members: 3, Racks: []int{0, 9, 9}}.Check())
	require.NoError(t, Config{Members: 3, Period: 10 * ms, Adaptive: &adaptive.QoS{Detection: 200 * adaptive.Millisecond}}.Check())
}

// TestF8LeaseIsLookedAtFirst: a member that returns from a pause freezes before it sends anything.
func TestF8LeaseIsLookedAtFirst(t *testing.T) {
	r := New(Config{Members: 3, Me: 1})
	r.Step(Tick{Now: 0})
	actions := r.Step(Tick{Now: mono.Time(5 * mono.Second)})
	require.NotEmpty(t, actions)
	assert.Equal(t, Freeze{}, actions[0])
	assert.True(t, r.Frozen())
}

// TestF7NothingFollowsTheEnd: a member that was declared does nothing any more.
func TestF7NothingFollowsTheEnd(t *testing.T) {
	r := New(Config{Members: 3, Me: 1})
	assert.Equal(t, []Action{Fenced{By: 2}}, r.Step(Receive{From: 2, Msg: dead{}.append(nil)}))
	assert.Empty(t, r.Step(Tick{Now: mono.Time(mono.Second)}))
	_, more := r.Deadline()
	assert.False(t, more)
}

// TestF6TheDeadAreToldAndNotHeard: messages of a declared member are dropped and counted, and
// answered, but not each time.
func TestF6TheDeadAreToldAndNotHeard(t *testing.T) {
	w := quietWorld(t, Config{Members: 3})
	w.powerOff(2)
	w.runUntil(w.now.Add(2 * mono.Second))
	r := w.members[0].r
	require.Equal(t, []int{2}, r.Dead().Slice())
	news := newsMessage{runs: []run{{origin: 2, entries: []Entry{Process(Died, 1)}}}}.append(nil)
	told := Send{To: 2, Msg: dead{}.append(nil)}
	assert.Equal(t, []Action{told}, r.Step(Receive{From: 2, Msg: news}))
	assert.Empty(t, r.Step(Receive{From: 2, Msg: news}))
	assert.Equal(t, uint64(2), r.Dropped())
	r.Step(Tick{Now: r.now.Add(r.cfg.Timeout)})
	assert.Equal(t, []Action{told}, r.Step(Receive{From: 2, Msg: news}), "what was told may have been lost")
}

// TestDeadlineMoves: after a Tick the deadline is later than the time it gave.
func TestDeadlineMoves(t *testing.T) {
	for _, survive := range []bool{false, true} {
		for me := range 4 {
			r := New(Config{Members: 4, Me: me, Survive: survive})
			for range 2000 {
				at, ok := r.Deadline()
				if !ok {
					break
				}
				r.Step(Tick{Now: at})
				next, ok := r.Deadline()
				require.True(t, !ok || next > at, "member %d: %s", me, r.Describe())
			}
		}
	}
}

// TestAlone: a launcher without nodes has nobody to lose.
func TestAlone(t *testing.T) {
	for _, survive := range []bool{false, true} {
		r := New(Config{Members: 1, Survive: survive})
		for at := range mono.Duration(100) {
			for _, a := range r.Step(Tick{Now: mono.Time(at * 50 * ms)}) {
				assert.IsType(t, Lease{}, a)
			}
		}
		_, acts := r.Leads()
		assert.True(t, acts)
	}
}

// TestB23NewsInOrder: entries of one list are learned once, and in its order, even if messages are
// lost, doubled or overtake each other.
func TestB23NewsInOrder(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 23))
		w := newWorld(rng, Config{Members: 2 + rng.IntN(8)})
		w.delay = 40 * ms
		var next [16]uint32
		for range 60 {
			me := rng.IntN(len(w.members))
			w.at(mono.Time(rng.Int64N(int64(4*mono.Second))), func() {
				var entries []Entry
				for range 1 + rng.IntN(3) {
					next[me]++
					entries = append(entries, Process(Died, next[me]<<8|uint32(me)))
				}
				w.step(me, Publish{Entries: entries})
			})
			w.at(mono.Time(rng.Int64N(int64(4*mono.Second))), func() {
				w.cut[me][rng.IntN(len(w.members))] = true
				w.at(w.now.Add(200*ms), w.heal)
			})
		}
		w.runUntil(mono.Time(6 * mono.Second))
		require.NoError(t, w.violation, "seed %d", seed)
		for me, m := range w.members {
			var seen [16]uint32
			for _, e := range m.list {
				of := e.Number() & 0xff
				require.Equal(t, seen[of]+1, e.Number()>>8, "seed %d: member %d learns of %d", seed, me, of)
				seen[of]++
			}
			for of := range w.members {
				if of != me {
					require.Equal(t, next[of], seen[of], "seed %d: member %d lacks news of %d", seed, me, of)
				}
			}
		}
	}
}

// TestF5DeclaredAfterTheLease: clocks differ by two thousandths, and leases are long. The ring
// suspects 2, and the coordinator still receives its beats; the lease alone therefore decides how
// soon 2 can be declared when the coordinator receives nothing any more either. 2 is frozen before.
func TestF5DeclaredAfterTheLease(t *testing.T) {
	w := newWorld(nil, Config{Members: 4, Timeout: 5 * mono.Second, Period: 100 * ms})
	w.members[0].rate, w.members[2].rate = 1.001, 0.999
	w.runUntil(mono.Time(20 * mono.Second))
	w.sever(rankset.Of(2), rankset.Of(3), true)
	w.sever(rankset.Of(3), rankset.Of(2), true)
	w.runUntil(mono.Time(40 * mono.Second))
	require.Empty(t, w.members[1].declarations.Slice())
	require.Equal(t, []int{2}, w.members[3].r.held.silent.Slice())
	w.sever(rankset.Of(2), rankset.Of(0), true)
	w.sever(rankset.Of(0), rankset.Of(2), true)
	w.runUntil(mono.Time(40 * mono.Second).Add(w.cfg.Timeout + w.cfg.Period))
	require.NoError(t, w.violation)
	assert.Equal(t, []int{2}, w.members[1].declarations.Slice())
}

// TestF11CountedFromTheBeat: however late a grant comes, the lease is over a Timeout after the
// sending of the beat that it answers; and a grant that comes after that is none.
func TestF11CountedFromTheBeat(t *testing.T) {
	r := New(Config{Members: 3, Me: 1})
	for _, at := range []mono.Duration{0, 100 * ms, 200 * ms, 300 * ms} {
		r.Step(Tick{Now: mono.Time(at)})
	}
	third := r.lease.seq - 1 // sent at 200 ms
	assert.Contains(t, told(r, 390*ms, 0, grant{seq: third, number: 3, lease: true}), Lease{Until: mono.Time(700 * ms)})
	r.Step(Tick{Now: mono.Time(700 * ms)})
	require.True(t, r.Frozen())
	told(r, 710*ms, 0, grant{seq: third, number: 4, lease: true})
	assert.True(t, r.Frozen())
}

// TestF11LatenessProlongsNoLease: a member that was late itself waits longer for others, and runs
// no longer itself.
func TestF11LatenessProlongsNoLease(t *testing.T) {
	r := New(Config{Members: 3, Me: 1})
	r.Step(Tick{Now: 0})
	r.Step(Tick{Now: mono.Time(400 * ms)})
	assert.False(t, r.Frozen())
	at, _ := r.Deadline()
	assert.LessOrEqual(t, at, mono.Time(500*ms))
	r.Step(Tick{Now: mono.Time(500 * ms)})
	assert.True(t, r.Frozen())
}

// TestF4SuspectedButGranted: the observer of a node receives nothing from it, and the coordinator
// does: that is a fault of one link, and nobody dies.
func TestF4SuspectedButGranted(t *testing.T) {
	for _, survive := range []bool{false, true} {
		w := quietWorld(t, Config{Members: 4, Survive: survive})
		w.sever(rankset.Of(2), rankset.Of(3), true)
		w.runUntil(w.now.Add(20 * mono.Second))
		require.Equal(t, []int{2}, w.members[3].r.held.silent.Slice())
		for _, m := range w.members {
			assert.Empty(t, m.declarations.Slice())
			assert.Zero(t, m.freezes)
		}
	}
}

// TestB10SecondPath: heartbeats of the ring are lost, all of them. The second check takes the other
// path, so the suspicion is refuted each time.
func TestB10SecondPath(t *testing.T) {
	w := quietWorld(t, Config{Members: 4})
	w.deaf = [2]int{2, 3}
	w.runUntil(w.now.Add(5 * mono.Second))
	assert.Empty(t, w.members[3].r.held.silent.Slice())
	assert.Empty(t, w.members[0].r.coordinator.peers[3].report.silent.Slice())
	require.NoError(t, w.settled())
}

// TestReportsGoStale: 3 finds 2 silent, then receives from it again, but the coordinator never
// learns that. Later 2 is silent towards the coordinator for a while: nobody suspects 2, so it
// lives.
func TestReportsGoStale(t *testing.T) {
	w := quietWorld(t, Config{Members: 5})
	w.sever(rankset.Of(2), rankset.Of(3), true)
	w.runUntil(w.now.Add(2 * mono.Second))
	require.Equal(t, []int{2}, w.members[0].r.coordinator.peers[3].report.silent.Slice())
	w.sever(rankset.Of(3), rankset.Of(0), true)
	w.sever(rankset.Of(2), rankset.Of(3), false)
	w.runUntil(w.now.Add(mono.Second))
	require.Empty(t, w.members[3].r.held.silent.Slice())
	w.heal()
	w.sever(rankset.Of(2), rankset.Of(0), true)
	w.runUntil(w.now.Add(3 * mono.Second))
	assert.Empty(t, w.members[0].declarations.Slice())
}

// TestB17OwnLatenessIsForgiven: the launcher stands still for longer than Config.Link, and then a
// whole job on one machine does: unread messages in queues are no silence.
func TestB17OwnLatenessIsForgiven(t *testing.T) {
	w := quietWorld(t, Config{Members: 4})
	w.pause(0, 12*mono.Second)
	w.runUntil(w.now.Add(14 * mono.Second))
	require.NoError(t, w.violation)
	require.NoError(t, w.settled())
	assert.Empty(t, w.members[1].declarations.Slice())

	w = quietWorld(t, Config{Members: 4, Survive: true})
	for me := range w.members {
		w.pause(me, 5*mono.Second)
	}
	w.runUntil(w.now.Add(8 * mono.Second))
	require.NoError(t, w.settled())
	assert.Empty(t, w.members[1].declarations.Slice())
	assert.Zero(t, w.acted, "the launcher is the coordinator still")
}

// told gives a member a message at a time, and returns its actions.
func told(r *Roster, at mono.Duration, from int, m message) []Action {
	r.Step(Tick{Now: mono.Time(at)})
	return r.Step(Receive{From: from, Msg: m.append(nil)})
}

func has(actions []Action, to int, m message) bool {
	want := string(m.append(nil))
	for _, a := range actions {
		if s, ok := a.(Send); ok && s.To == to && string(s.Msg) == want {
			return true
		}
	}
	return false
}

// TestF12APromiseIsKept: a member that has promised an epoch writes nothing down for an earlier
// coordinator.
func TestF12APromiseIsKept(t *testing.T) {
	r := New(Config{Members: 4, Me: 3, Survive: true})
	first, second := Record{Epoch: 1, Dead: rankset.Of(0), Last: rankset.Of(0)}, Record{Epoch: 2}
	assert.True(t, has(told(r, 10*ms, 2, propose{record: second}), 2, written{epoch: 2}))
	assert.False(t, has(told(r, 20*ms, 1, propose{record: first}), 1, written{epoch: 1, version: 1}))
	assert.True(t, r.voter.record.Dead.IsEmpty())
	assert.False(t, has(told(r, 30*ms, 3-2, propose{record: second}), 1, written{epoch: 2}), "only the coordinator of an epoch speaks for it")
}

// TestF12SupportsOfOneEpoch: a support of epoch 1 does not count for epoch 5, which has the same
// coordinator.
func TestF12SupportsOfOneEpoch(t *testing.T) {
	r := New(Config{Members: 4, Me: 1, Survive: true})
	r.voter.quiet = mono.Time(-mono.Second) // it has no coordinator
	told(r, 10*ms, 2, support{epoch: 1})
	told(r, 20*ms, 3, support{epoch: 5})
	assert.Nil(t, r.coordinator)
	told(r, 30*ms, 2, support{epoch: 5})
	require.NotNil(t, r.coordinator)
	assert.Equal(t, uint32(5), r.coordinator.record.Epoch)
}

// TestF12GoesOnFromTheNewest: a new coordinator proposes the unfinished record of the coordinator
// before again. The deaths are announced when no rank of the declared can run, for a coordinator in
// between may have granted.
func TestF12GoesOnFromTheNewest(t *testing.T) {
	begun := Record{Epoch: 0, Dead: rankset.Of(3), Last: rankset.Of(3)}
	r := New(Config{Members: 4, Me: 1, Survive: true})
	r.voter.quiet = mono.Time(-mono.Second) // it has no coordinator
	told(r, 1000*ms, 2, support{epoch: 1, record: begun})
	require.NotNil(t, r.coordinator)
	assert.Equal(t, []int{3}, r.coordinator.record.Dead.Slice())
	told(r, 1002*ms, 2, written{epoch: 1, version: 1})
	assert.False(t, r.coordinator.committed, "two are no majority of the four that vote about it, without the least")
	told(r, 1003*ms, 0, written{epoch: 1, version: 1})
	assert.True(t, r.coordinator.committed)

	fenced := mono.Time(1000 * ms).Add(r.cfg.actAfter() + r.cfg.fenceAfter())
	for at := 1050 * ms; at < 3000*ms; at += 50 * ms {
		for _, m := range []int{0, 2} {
			number := r.coordinator.peers[m].number
			told(r, at, m, beat{epoch: 1, seq: uint64(at), named: number, wroteEpoch: 1, wroteVersion: 1})
		}
		assert.Equal(t, mono.Time(at) >= fenced, r.Dead().Has(3), "at %v", at)
	}
}

// TestNoVotesAttached: a job that its launcher leads for ever follows nobody else.
func TestNoVotesAttached(t *testing.T) {
	for _, m := range []message{propose{record: Record{Epoch: 1}}, written{epoch: 1}, canvass{epoch: 1}, canvassed{epoch: 1, promised: 1}, support{epoch: 2}} {
		r := New(Config{Members: 3, Me: 2})
		actions := told(r, 5000*ms, 1, m)
		require.Len(t, actions, 1, "%T", m)
		assert.IsType(t, Anomaly{}, actions[0], "%T", m)
		assert.Zero(t, r.coordinatorMember(), "%T", m)
	}
}

// TestSupportIsRepeated: the support for the next coordinator may be lost, so the member repeats it
// each Period until that coordinator grants something.
func TestSupportIsRepeated(t *testing.T) {
	r := New(Config{Members: 3, Me: 2, Survive: true})
	for at := range mono.Duration(10) {
		r.Step(Tick{Now: mono.Time(at * 100 * ms)})
	}
	require.Equal(t, uint32(1), r.voter.target)
	said := support{epoch: 1}
	assert.True(t, has(told(r, 910*ms, 1, canvassed{epoch: 1, yes: true}), 1, said))
	assert.True(t, has(r.Step(Tick{Now: mono.Time(1000 * ms)}), 1, said))
	told(r, 1010*ms, 1, grant{epoch: 1, seq: r.lease.seq, number: 1, lease: true})
	assert.False(t, has(r.Step(Tick{Now: mono.Time(1100 * ms)}), 1, said))
}

// TestProposalIsRepeated: the request to a voter to write a version down may be lost, too.
func TestProposalIsRepeated(t *testing.T) {
	r := New(Config{Members: 3, Me: 1, Survive: true})
	r.voter.quiet = mono.Time(-mono.Second) // it has no coordinator
	asked := propose{record: Record{Epoch: 1}}
	assert.True(t, has(told(r, 10*ms, 0, support{epoch: 1}), 2, asked))
	r.Step(Tick{Now: mono.Time(90 * ms)})
	assert.True(t, has(r.Step(Tick{Now: mono.Time(100 * ms)}), 2, asked))
	told(r, 110*ms, 0, written{epoch: 1})
	assert.False(t, has(r.Step(Tick{Now: mono.Time(200 * ms)}), 2, asked), "it counts")
}

// TestF12RecordsOfLaterCoordinators: a later coordinator's record precedes one with more dead.
func TestF12RecordsOfLaterCoordinators(t *testing.T) {
	small, large := Record{Epoch: 2, Dead: rankset.Of(1)}, Record{Epoch: 1, Dead: rankset.Of(1, 2)}
	assert.True(t, small.newer(large))
	assert.False(t, large.newer(small))
	assert.False(t, small.newer(small))
	assert.True(t, Record{Epoch: 2, Dead: rankset.Of(1, 2)}.newer(small))
}

// TestF12WrittenForAnotherCoordinator: a record written down for this member's epoch before last
// does not count for this one.
func TestF12WrittenForAnotherCoordinator(t *testing.T) {
	r := New(Config{Members: 4, Me: 1, Survive: true})
	r.voter.quiet = mono.Time(-mono.Second) // it has no coordinator
	told(r, 10*ms, 2, support{epoch: 5})
	told(r, 20*ms, 3, support{epoch: 5})
	require.NotNil(t, r.coordinator)
	told(r, 30*ms, 2, written{epoch: 1})
	told(r, 30*ms, 3, written{epoch: 1})
	assert.False(t, r.coordinator.committed)
	told(r, 40*ms, 2, written{epoch: 5})
	told(r, 40*ms, 3, written{epoch: 5})
	assert.True(t, r.coordinator.committed)
}

// TestF12SupportIsAsOldAsTheAnswer: a beat was under way for half a second. Its sender supported
// this coordinator when the answer that the beat names was sent; since then the sender may have
// promised another one.
func TestF12SupportIsAsOldAsTheAnswer(t *testing.T) {
	r := New(Config{Members: 3, Me: 0, Survive: true})
	told(r, 100*ms, 1, beat{seq: 1})
	told(r, 590*ms, 1, beat{seq: 2, named: 1})
	for _, at := range []mono.Duration{600 * ms, 849 * ms, 851 * ms} {
		r.Step(Tick{Now: mono.Time(at)})
		_, acts := r.Leads()
		assert.Equal(t, at <= 850*ms, acts, "at %v", at)
	}
}

// TestFollowsWithoutPromise: a member that has promised epoch 2, alone, follows the coordinator of
// epoch 1 that the others have: it is granted, and gives that coordinator neither support nor a
// vote.
func TestFollowsWithoutPromise(t *testing.T) {
	w := quietWorld(t, Config{Members: 4, Survive: true})
	w.powerOff(0)
	w.runUntil(w.now.Add(4 * mono.Second))
	require.NoError(t, w.settled())
	m := w.members[3]
	m.r.promise(2)
	w.runUntil(w.now.Add(3 * mono.Second))
	require.NoError(t, w.violation)
	require.NoError(t, w.settled())
	assert.Equal(t, uint32(1), m.r.voter.follows)
	assert.Equal(t, uint32(2), m.r.voter.promised)
	coordinator := w.members[1].r.coordinator
	assert.Less(t, coordinator.peers[3].backed, coordinator.peers[3].granted.Add(-2*mono.Second))

	w.powerOff(1)
	w.runUntil(w.now.Add(3 * mono.Second))
	assert.GreaterOrEqual(t, m.r.voter.follows, uint32(2), "none before the promised one has its vote")
	assert.Equal(t, m.r.voter.promised, m.r.voter.follows)
}

// TestFollowedCoordinatorIsReported: a member that has promised epoch 2, alone, before it heard of
// epoch 1 writes nothing down for the coordinator of epoch 1. It reports that coordinator all the
// same, once, by its first lease: the event log of its node would name no coordinator otherwise.
func TestFollowedCoordinatorIsReported(t *testing.T) {
	w := quietWorld(t, Config{Members: 5, Survive: true})
	var coordinators []string
	w.log = func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); strings.Contains(text, "is the coordinator of epoch") {
			coordinators = append(coordinators, text)
		}
	}
	w.powerOff(0)
	for w.members[1].r.coordinator == nil {
		w.runUntil(w.now.Add(ms / 10))
	}
	w.members[3].r.promise(2) // the new coordinator's first message is under way
	w.runUntil(w.now.Add(4 * mono.Second))
	require.NoError(t, w.violation)
	require.NoError(t, w.settled())
	require.Equal(t, uint32(1), w.members[3].r.voter.follows)
	require.Equal(t, uint32(2), w.members[3].r.voter.promised)
	slices.Sort(coordinators)
	assert.Equal(t, []string{"1: 1 is the coordinator of epoch 1", "2: 1 is the coordinator of epoch 1", "3: 1 is the coordinator of epoch 1", "4: 1 is the coordinator of epoch 1"}, coordinators)
}

// TestStraySupport: one that promises alone unseats no coordinator.
func TestStraySupport(t *testing.T) {
	w := quietWorld(t, Config{Members: 3, Survive: true})
	w.members[2].r.promise(1)
	w.runUntil(w.now.Add(3 * mono.Second))
	require.NoError(t, w.settled())
	assert.Zero(t, w.acted)
	assert.Zero(t, w.members[1].freezes)
}
