package commstate

import (
	"github.com/goulfm/goulfm/ulfm"
	"slices"
	"testing"
)

// pair returns the two members of a communicator; drive delivers their messages at once.
func pair() [2]*Comm {
	return [2]*Comm{New(Config{Group: *group(2, 0)}), New(Config{Group: *group(2, 1)})}
}

// drive gives comms[me] an event, delivers all messages that follow, and returns the
// other actions of both members, in order.
func drive(comms [2]*Comm, me int, ev Event) (told [2][]Action) {
	type step struct {
		me int
		ev Event
	}
	for queue := []step{{me, ev}}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		for _, a := range comms[s.me].Step(s.ev) {
			if send, ok := a.(Send); ok {
				queue = append(queue, step{send.To, Receive{From: s.me, Part: send.Part, Seq: send.Seq, Msg: send.Msg}})
			} else {
				told[s.me] = append(told[s.me], a)
			}
		}
	}
	return told
}

// TestSeriesAreIndependent: in the schedule of Comm's comment, 1 never calls the dup
// that 0 is in; both recover by a shrink nevertheless.
func TestSeriesAreIndependent(t *testing.T) {
	c := pair()
	drive(c, 0, Propose{Token: 1, Call: Call{Kind: KindDup}, Index: 7})
	told := drive(c, 1, Revoke{})
	if len(told[0]) != 2 || told[0][0] != (Revoked{}) {
		t.Fatalf("0 is told %+v", told[0])
	}
	if up, ok := told[0][1].(GiveUp); !ok || up.Proposal.Token != 1 || up.Class != ulfm.ErrRevoked {
		t.Errorf("0 is told %+v", told[0][1])
	}
	drive(c, 1, Propose{Token: 2, Call: Call{Kind: KindShrink}, Index: 8})
	told = drive(c, 0, Propose{Token: 3, Call: Call{Kind: KindShrink}, Index: 9})
	for me := range c {
		d, ok := told[me][0].(Decide)
		if !ok || d.Proposal.Seq != 1 || d.Value.Mismatch() {
			t.Errorf("%d is told %+v", me, told[me])
		}
	}
}

// TestGivenUpCreationStillDecides: see Proposal.GivenUp.
func TestGivenUpCreationStillDecides(t *testing.T) {
	c := pair()
	drive(c, 0, Propose{Token: 1, Call: Call{Kind: KindDup}, Index: 7})
	drive(c, 0, Revoke{})
	if open := c[0].Open(); len(open) != 1 || !open[0].GivenUp {
		t.Fatalf("%+v", open)
	}
	told := drive(c, 1, Propose{Token: 2, Call: Call{Kind: KindDup}, Index: 8})
	if d, ok := told[0][0].(Decide); !ok || !d.Proposal.GivenUp || d.Value.From.Len() != 2 {
		t.Errorf("0 is told %+v", told[0])
	}
}

// TestOrphansAreTold: a member that closes a communicator reports the creations that it gave up.
func TestOrphansAreTold(t *testing.T) {
	c := pair()
	drive(c, 1, Propose{Token: 1, Call: Call{Kind: KindDup}, Index: 7})
	drive(c, 1, Propose{Token: 2, Call: Call{Kind: KindDup}, Index: 8})
	drive(c, 1, Revoke{})
	drive(c, 1, Propose{Token: 3, Call: Call{Kind: KindClose}})
	told := drive(c, 0, Propose{Token: 4, Call: Call{Kind: KindClose}})
	want := []Orphan{{Rank: 1, Seq: 1}, {Rank: 1, Seq: 2}}
	for me := range c {
		if d, ok := told[me][0].(Decide); !ok || !slices.Equal(Orphans(d.Value), want) {
			t.Errorf("%d is told %+v", me, told[me])
		}
	}
}

// TestEndedTellsWhoWaits: the end of the closing agreement names the members to notify. The
// schedule is in the comment of Comm.ended.
func TestEndedTellsWhoWaits(t *testing.T) {
	c := New(Config{Group: *group(8, 3)}) // 7 is its child in the tree, 1 its parent
	child := New(Config{Group: *group(8, 7)})
	for _, a := range child.Step(Propose{Call: Call{Kind: KindClose}}) {
		if s, ok := a.(Send); ok && s.To == 3 {
			c.Step(Receive{From: 7, Part: s.Part, Seq: s.Seq, Msg: s.Msg})
		}
	}
	c.Step(Propose{Token: 5, Call: Call{Kind: KindClose}})
	told := c.Step(Ended{})
	if d, ok := told[0].(Decide); !ok || d.Proposal.Token != 5 || !slices.Equal(d.Tell.Slice(), []int{7}) {
		t.Errorf("told %+v", told)
	}
	if again := c.Step(Ended{}); len(again) != 0 {
		t.Errorf("again: %+v", again)
	}
}

// TestDismissAnswersOnce: every open call, and none twice.
func TestDismissAnswersOnce(t *testing.T) {
	c := New(Config{Group: *group(2, 0)})
	c.Step(Propose{Token: 1, Call: Call{Kind: KindDup}})
	c.Step(Propose{Token: 2, Call: Call{Kind: KindAgree}})
	c.Step(Revoke{}) // answers 1
	told := c.Step(Dismiss{})
	if len(told) != 1 {
		t.Fatalf("told %+v", told)
	}
	if g, ok := told[0].(GiveUp); !ok || g.Proposal.Token != 2 || g.Class != ErrFreed {
		t.Errorf("told %+v", told)
	}
	if again := c.Step(Dismiss{}); len(again) != 0 {
		t.Errorf("again: %+v", again)
	}
}

// TestStrangers: messages from a rank that is no other member, for an unknown part, or without a
// readable content are reported.
func TestStrangers(t *testing.T) {
	c := New(Config{Group: *group(3, 1)})
	for _, ev := range []Receive{{From: -1}, {From: 1}, {From: 3}, {From: 0, Part: PartRevoke + 1}, {From: 0, Seq: 1, Msg: []byte{9}}} {
		told := c.Step(ev)
		if len(told) != 1 {
			t.Fatalf("%+v: %+v", ev, told)
		}
		if _, ok := told[0].(Anomaly); !ok {
			t.Errorf("%+v: %+v", ev, told)
		}
	}
}

// TestRevocationIsMended: a death gives a revoked member a new neighbour on the
// ring, which gets the revocation (B3); the dead gets nothing.
func TestRevocationIsMended(t *testing.T) {
	c := New(Config{Group: *group(8, 0)})
	c.Step(Died{Rank: 1})
	for _, a := range c.Step(Revoke{}) {
		if s, ok := a.(Send); ok && s.To == 1 {
			t.Error("sent to the dead")
		}
	}
	mended := false
	for _, a := range c.Step(Died{Rank: 2}) { // 3 is next, no circulant neighbour of 0
		s, ok := a.(Send)
		mended = mended || ok && s.To == 3 && s.Part == PartRevoke
	}
	if !mended {
		t.Error("3 is not told")
	}
}
