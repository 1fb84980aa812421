package comm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// The two groups of the intercommunicators below, as ranks of the world: neither is
// in order, and they have different sizes.
var groupA, groupB = []int{3, 0}, []int{1, 4, 2}

// bridged runs body with an intercommunicator of groupA and groupB.
func bridged(t testing.TB, body func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm)) {
	t.Helper()
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, groupA, groupB)
		if err != nil {
			t.Error(err)
			return
		}
		body(ctx, w, ic)
	})
}

// sides returns the local and the remote group of a rank of the world.
func sides(rank int) (local, remote []int) {
	if slices.Contains(groupA, rank) {
		return groupA, groupB
	}
	return groupB, groupA
}

// TestIntercommGroups: members and ranks, seen from both sides.
func TestIntercommGroups(t *testing.T) {
	bridged(t, func(_ context.Context, w *comm.Comm, ic *comm.Intercomm) {
		local, remote := sides(w.Rank())
		if ic.Rank() != slices.Index(local, w.Rank()) || ic.Size() != len(local) || ic.RemoteSize() != len(remote) ||
			!slices.Equal(ic.Group().Processes(), local) || !slices.Equal(ic.RemoteGroup().Processes(), remote) || ic.Group().Rank() != ic.Rank() {
			t.Errorf("%d is %d of %d, %v to %v of %d", w.Rank(), ic.Rank(), ic.Size(), ic.Group(), ic.RemoteGroup(), ic.RemoteSize())
		}
		union, l, r := door.Sides(ic)
		if union.Size() != 5 || !slices.Equal(l, local) || !slices.Equal(r, remote) {
			t.Errorf("sides %v and %v of %v", l, r, union.Group())
		}
	})
}

// TestIntercommMessagesGoToTheRemoteGroup, in every way to send and to receive: ranks
// and statuses are of the remote group.
func TestIntercommMessagesGoToTheRemoteGroup(t *testing.T) {
	bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
		for tag, send := range []string{"Send", "Ssend", "Isend", "Issend", "SendInit"} {
			var rs []comm.Request
			for to := range ic.RemoteSize() {
				dest, out := ic.To(to).Tag(tag), []int{w.Rank()}
				switch send {
				case "Isend", "Ssend": // Ssend would wait for receives that come later
					rs = append(rs, comm.Isend(dest, out))
				case "Issend":
					rs = append(rs, comm.Issend(dest, out))
				case "SendInit":
					r := comm.SendInit(dest, out)
					ok(t, "start", r.Start())
					rs = append(rs, r)
				default:
					ok(t, send, comm.Send(ctx, dest, out))
				}
			}
			for i := range ic.RemoteSize() {
				from := ic.From(i).Tag(tag)
				if tag%2 == 0 {
					from = ic.From(comm.Any).Tag(tag)
				}
				in := []int{-1}
				st, err := receiveSomehow(ctx, tag, from, in)
				ok(t, send, err)
				if _, remote := sides(w.Rank()); st.Source < 0 || st.Source >= len(remote) || in[0] != remote[st.Source] || tag%2 == 1 && st.Source != i {
					t.Errorf("%s: rank %d has %d, said to be of %d", send, w.Rank(), in[0], st.Source)
				}
			}
			ok(t, send, comm.WaitAll(ctx, rs...))
		}
		_, err := ic.Agree(ctx, 0)
		ok(t, "agree", err)
		if peer := ic.Rank(); peer < ic.RemoteSize() {
			in := []int{-1}
			st, err := comm.SendRecv(ctx, ic.To(peer), []int{w.Rank()}, ic.From(peer), in)
			if _, remote := sides(w.Rank()); err != nil || st.Source != peer || in[0] != remote[peer] {
				t.Errorf("both ways: %d of %d, %v", in[0], st.Source, err)
			}
			ok(t, "send", comm.Ssend(ctx, ic.To(comm.None), in))
			ok(t, "value", comm.SendValue(ctx, ic.To(peer), w.Rank()))
			v, st, err := comm.RecvValue[int](ctx, ic.From(peer))
			if _, remote := sides(w.Rank()); err != nil || st.Source != peer || v != remote[peer] {
				t.Errorf("a value: %d of %d, %v", v, st.Source, err)
			}
		}
	})
}

// receiveSomehow receives in one of several ways.
func receiveSomehow(ctx context.Context, way int, from comm.Source, in []int) (comm.Status, error) {
	switch way {
	case 0:
		return comm.Irecv(from, in).Wait(ctx)
	case 1:
		m, st, err := comm.Mprobe(ctx, from)
		if err != nil {
			return st, err
		}
		got, err := comm.Mrecv(ctx, m, in)
		if got.Source != st.Source {
			return got, fmt.Errorf("probed from %d, received from %d", st.Source, got.Source)
		}
		return got, err
	case 2:
		r := comm.RecvInit(from, in)
		if err := r.Start(); err != nil {
			return comm.Status{}, err
		}
		sts := make([]comm.Status, 1)
		err := comm.WaitAllStatus(ctx, sts, r)
		return sts[0], err
	case 3:
		st, err := comm.Probe(ctx, from)
		if err != nil {
			return st, err
		}
		if again, there, err := comm.Iprobe(from); !there || err != nil || again != st {
			return st, fmt.Errorf("probed %v, then %v %v %w", st, again, there, err)
		}
	}
	return comm.Recv(ctx, from, in)
}

// TestIntercommArguments: ranks beyond the remote group are wrong, and errors name the ranks that
// the caller passed.
func TestIntercommArguments(t *testing.T) {
	bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
		for _, rank := range []int{ic.RemoteSize(), 5, -7, math.MaxInt} {
			for call, f := range sends {
				want(t, call, f(ctx, ic.To(rank)), comm.ErrRank)
			}
			for call, f := range receives {
				want(t, call, f(ctx, ic.From(rank)), comm.ErrRank)
			}
		}
		_, err := ic.AckFailed(6)
		want(t, "acknowledge", err, comm.ErrArgument)
	})
}

// TestSpecR19BothGroupsOfAnIntercomm: failures of both groups are known, those of the
// remote one fail its messages and are named by remote rank, and Any is interrupted
// until all are acknowledged.
func TestSpecR19BothGroupsOfAnIntercomm(t *testing.T) {
	bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
		if _, err := ic.Agree(ctx, 0); err != nil {
			t.Error(err)
		}
		killAndWatch(ctx, t, w, 4, 0) // rank 1 of B and of A
		failed := ic.GetFailed().Processes()
		slices.Sort(failed)
		if !slices.Equal(failed, []int{0, 4}) {
			t.Errorf("failed: %v", failed)
		}
		err := comm.Send(ctx, ic.To(1), []int{1})
		want(t, "send", err, ulfm.ErrProcFailed)
		wantRanks(t, err, 1)
		err = receives["Recv"](ctx, ic.From(comm.Any))
		want(t, "recv from any", err, ulfm.ErrProcFailed)
		wantRanks(t, err, 1) // of the remote group
		acked, err := ic.AckFailed(ic.Size() + ic.RemoteSize())
		if acked != 2 || err != nil {
			t.Errorf("acknowledged %d, %v", acked, err)
		}
		_, err = w.AgreeFailed(ctx) // all have been interrupted
		ok(t, "agree", err)
		if ic.Rank() == 0 { // ranks 0 of both live
			ok(t, "send", comm.Send(ctx, ic.To(0), []int{1}))
			ok(t, "recv from any", receives["Recv"](ctx, ic.From(comm.Any)))
		}
	})
}

// TestSpecR33FlagIsOfTheRemoteGroup: each group gets the flag of the other group, also with a
// death, which both groups report alike.
func TestSpecR33FlagIsOfTheRemoteGroup(t *testing.T) {
	for _, dies := range []bool{false, true} {
		bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
			if _, err := ic.Agree(ctx, 0); err != nil {
				t.Error(err)
			}
			flags := map[int]uint64{3: 0b1110, 0: 0b0111, 1: 0b111011, 4: 0b101111, 2: 0b110011}
			wanted := uint64(0b0110)
			if slices.Contains(groupA, w.Rank()) {
				wanted = 0b100011
				if dies {
					wanted = 0b110011 // without 4
				}
			}
			if dies && w.Rank() == 4 {
				commtest.Kill(w)
			}
			flag, err := ic.Agree(ctx, flags[w.Rank()])
			if flag != wanted {
				t.Errorf("rank %d: %b, want %b", w.Rank(), flag, wanted)
			}
			if !dies {
				ok(t, "agree", err)
				return
			}
			want(t, "agree", err, ulfm.ErrProcFailed)
			if !slices.Equal(ic.GetFailed().Processes(), []int{4}) { // R31
				t.Errorf("failed: %v", ic.GetFailed())
			}
			_, err = ic.AckFailed(1)
			ok(t, "acknowledge", err)
			_, err = ic.Agree(ctx, 1)
			ok(t, "agree again", err)
		})
	}
}

// TestIntercommAgreeIsGivenUpWhole: a member that abandoned the wait keeps no other member waiting,
// and the next agreement matches at all; a call with a context that was over has begun nothing.
func TestIntercommAgreeIsGivenUpWhole(t *testing.T) {
	gaveUp := make(chan struct{})
	bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
		_, err := ic.Agree(ended(ctx), 0)
		want(t, "over before", err, comm.ErrNotBegun)
		if w.Rank() == 0 {
			err := whileWaiting(ctx, t, w, func(ctx context.Context) error { _, err := ic.Agree(ctx, 3); return err })
			want(t, "over meanwhile", err, context.Canceled)
			close(gaveUp)
		} else {
			<-gaveUp
			flag, err := ic.Agree(ctx, 6)
			if slices.Contains(groupB, w.Rank()) && flag != 2 || err != nil {
				t.Errorf("rank %d: %d, %v", w.Rank(), flag, err)
			}
		}
		flag, err := ic.Agree(ctx, 5)
		if flag != 5 || err != nil {
			t.Errorf("rank %d: the next: %d, %v", w.Rank(), flag, err)
		}
	})
}

// TestMergeOrder for each pair of values that the groups pass.
func TestMergeOrder(t *testing.T) {
	for _, c := range []struct {
		a, b bool
		want []int
	}{
		{false, false, slices.Concat(groupA, groupB)},
		{true, true, slices.Concat(groupA, groupB)},
		{false, true, slices.Concat(groupA, groupB)},
		{true, false, slices.Concat(groupB, groupA)},
	} {
		bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
			high := c.b
			if slices.Contains(groupA, w.Rank()) {
				high = c.a
			}
			m, err := ic.Merge(ctx, high)
			ok(t, "merge", err)
			if err == nil && (!slices.Equal(m.Group().Processes(), c.want) || m.Group().Rank() != m.Rank()) {
				t.Errorf("%v and %v: %v, want %v", c.a, c.b, m.Group(), c.want)
			}
			works(ctx, t, m)
			_, err = w.Agree(ctx, 0)
			ok(t, "agree", err)
			ok(t, "free", ic.Free())
			works(ctx, t, m)
			want(t, "twice", ic.Free(), comm.ErrFreed)
		})
	}
}

// TestSpecR56MergeIsUniform: members of one group with different values, a dead member, and a
// revocation fail the merge for all.
func TestSpecR56MergeIsUniform(t *testing.T) {
	for odd := range 5 {
		bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
			m, err := ic.Merge(ctx, w.Rank() == odd)
			want(t, "merge", err, comm.ErrMismatch)
			if m != nil {
				t.Error("merged")
			}
			m, err = ic.Merge(ctx, slices.Contains(groupA, w.Rank()))
			ok(t, "merge", err)
			works(ctx, t, m)
			if w.Rank() == odd {
				commtest.Kill(w)
			}
			_, err = ic.Merge(ctx, false)
			want(t, "with a dead member", err, ulfm.ErrProcFailed)
			_, err = w.AgreeFailed(ctx) // all have returned from the merge
			ok(t, "agree", err)
			ok(t, "revoke", ic.Revoke())
			_, err = ic.Merge(ctx, false)
			want(t, "revoked", err, ulfm.ErrRevoked)
		})
	}
}

// TestIntercommRevokeReachesBothGroups, and shrink works on it: each group keeps its
// side and its order.
func TestIntercommRevokeReachesBothGroups(t *testing.T) {
	for victim := range 5 {
		bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
			if _, err := ic.Agree(ctx, 0); err != nil {
				t.Error(err)
			}
			killAndWatch(ctx, t, w, victim)
			if ic.Rank() == 0 && slices.Contains(groupB, w.Rank()) || victim == 1 {
				ok(t, "revoke", ic.Revoke())
			}
			until(ctx, t, "the revocation", ic.IsRevoked)
			want(t, "send", comm.Send(ctx, ic.To(0), []int{1}), ulfm.ErrRevoked)
			s, err := ic.Shrink(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			local, remote := sides(w.Rank())
			without := func(g []int) []int {
				return slices.DeleteFunc(slices.Clone(g), func(r int) bool { return r == victim })
			}
			if !slices.Equal(s.Group().Processes(), without(local)) || !slices.Equal(s.RemoteGroup().Processes(), without(remote)) || s.IsRevoked() || s.GetFailed().Size() > 0 {
				t.Errorf("without %d: %v and %v", victim, s.Group(), s.RemoteGroup())
			}
			if union, _, _ := door.Sides(s); union.Epoch() != w.Epoch()+1 {
				t.Errorf("epoch %d", union.Epoch())
			}
			if s.Rank() == 0 {
				in := []int{-1}
				_, err = comm.SendRecv(ctx, s.To(0), []int{w.Rank()}, s.From(0), in)
				if err != nil || in[0] != s.RemoteGroup().Processes()[0] {
					t.Errorf("after the shrink: %v, %v", in, err)
				}
			}
			m, err := s.Merge(ctx, false)
			ok(t, "merge", err)
			if err == nil && m.Group().Processes()[0] != slices.Concat(without(groupA), groupB)[0] {
				t.Errorf("the first group is another one now: %v", m.Group())
			}
		})
	}
}

// TestShrinkToOneGroup is an error of its own: not one that calls for another repair.
func TestShrinkToOneGroup(t *testing.T) {
	bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
		if _, err := ic.Agree(ctx, 0); err != nil {
			t.Error(err)
		}
		killAndWatch(ctx, t, w, groupA...)
		s, err := ic.Shrink(ctx)
		want(t, "shrink", err, comm.ErrUnsupported)
		if s != nil || ulfm.Recoverable(err) {
			t.Errorf("%v, %v", s, err)
		}
	})
}

// TestIntercommDeathAtEveryFrame: agree and merge end alike at all live members, wherever a member
// dies.
func TestIntercommDeathAtEveryFrame(t *testing.T) {
	const victim = 4
	for frame := uint64(1); ; frame++ {
		var flags ledger[string]
		came := commtest.RunKilled(t, 5, victim, frame, func(ctx context.Context, w *comm.Comm) {
			ic := door.Intercomm(w, groupA, groupB)
			flag, err := ic.Agree(ctx, uint64(16+w.Rank()))
			if w.Rank() == victim {
				_, _ = ic.Merge(ctx, false)
				return
			}
			if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
				t.Errorf("frame %d, rank %d: %v", frame, w.Rank(), err)
			}
			m, merr := ic.Merge(ctx, false)
			if slices.Contains(groupB, w.Rank()) && flag != (16+3)&(16+0) {
				t.Errorf("frame %d, rank %d: flag %d", frame, w.Rank(), flag)
			}
			flags.note(w.Rank(), fmt.Sprint(err == nil, merr == nil, m != nil))
		})
		flags.uniform(t, same, 0, 1, 2, 3)
		if !came {
			break
		}
	}
}

// Two groups, of even and of odd ranks, of a program in which something has connected
// them; then they become one.
func ExampleIntercomm() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		ic := door.Intercomm(w, []int{0, 2}, []int{1, 3})
		if w.Rank() == 3 {
			_ = comm.Send(ctx, ic.To(0), []int{42})
		}
		if w.Rank() == 0 {
			in := []int{0}
			st, err := comm.Recv(ctx, ic.From(comm.Any), in)
			fmt.Println(in, "from", st.Source, "of", ic.RemoteSize(), ic.RemoteGroup(), err)
		}
		odd := w.Rank()%2 == 1
		m, err := ic.Merge(ctx, !odd)
		if w.Rank() == 0 {
			fmt.Println(m.Group(), err)
		}
	})
	// Output:
	// [42] from 1 of 2 [1 3] <nil>
	// [1 3 0 2] <nil>
}
