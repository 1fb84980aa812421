package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
	"github.com/goulfm/goulfm/ulfm"
)

var errNoticed = errors.New("the message of another call")

// planned returns a schedule of an algorithm on blocks of unit bytes.
func planned(c *Comm, name string, root, unit int, in, out []byte) *Schedule {
	all := sched.Algorithms()
	a := &all[slices.IndexFunc(all, func(a sched.Algorithm) bool { return a.Name == name })]
	s := &Schedule{Plan: new(sched.Plan), Unit: unit, Tag: 3 << sched.NumberBits}
	a.Build(s.Plan, &sched.Shape{N: c.Size(), Me: c.Rank(), Root: root, Count: 1})
	s.Bufs = [3][]byte{in, out, make([]byte, s.Plan.Scratch*unit)}
	s.Combine = func(dst, left, right []byte) error {
		for i := range dst {
			dst[i] = left[i] ^ right[i]
		}
		return nil
	}
	s.Judge = func(from, tag, want, got int, err error) error {
		return &ulfm.Error{Ranks: []int{from}, Err: errors.Join(errNoticed, err)}
	}
	return s
}

// block is the contribution of a rank: other bytes for each round.
func block(rank, round, unit int) []byte {
	b := make([]byte, unit)
	for i := range b {
		b[i] = byte(rank*31 + round*7 + i*3)
	}
	return b
}

func blocks(n, round, unit int) (all []byte) {
	for r := range n {
		all = append(all, block(r, round, unit)...)
	}
	return all
}

var lengths = []int{0, 1, 100, 8 << 10, 8<<10 + 1, 100_003}

func TestSchedulesGiveWhatTheyShould(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8} {
		run(t, n, func(_ *cluster, w *Comm) error {
			for round, unit := range lengths {
				want := blocks(n, round, unit)
				for _, name := range []string{"allgather/ring", "allgather/bruck"} {
					out := make([]byte, n*unit)
					if err := w.RunSchedule(bg, "allgather", planned(w, name, 0, unit, block(w.Rank(), round, unit), out)); err != nil || !bytes.Equal(out, want) {
						return fmt.Errorf("%s of %d: %w", name, unit, err)
					}
				}
				var sum, out []byte = make([]byte, unit), make([]byte, unit)
				for r := range n {
					for i, b := range block(r, round, unit) {
						sum[i] ^= b
					}
				}
				if err := w.RunSchedule(bg, "allreduce", planned(w, "allreduce/recursive-doubling", 0, unit, block(w.Rank(), round, unit), out)); err != nil || !bytes.Equal(out, sum) {
					return fmt.Errorf("allreduce of %d: %w", unit, err)
				}
				root := round % n
				got := make([]byte, unit)
				if w.Rank() == root {
					got = block(root, round, unit)
				}
				if err := w.RunSchedule(bg, "bcast", planned(w, "bcast/binomial", root, unit, nil, got)); err != nil || !bytes.Equal(got, block(root, round, unit)) {
					return fmt.Errorf("bcast of %d from %d: %w", unit, root, err)
				}
			}
			return nil
		})
	}
}

// TestManySchedulesAtOnce has several open and waits for them in another order at
// each rank, with blocking ones in between.
func TestManySchedulesAtOnce(t *testing.T) {
	const n, open = 4, 6
	run(t, n, func(_ *cluster, w *Comm) error {
		p := w.Proc()
		for round := range 20 {
			var handles []Handle
			var outs [][]byte
			for k := range open {
				unit := lengths[(round+k)%len(lengths)]
				out := make([]byte, n*unit)
				h, err := w.StartSchedule("iallgather", planned(w, "allgather/ring", 0, unit, block(w.Rank(), round+k, unit), out))
				if err != nil {
					return err
				}
				handles, outs = append(handles, h), append(outs, out)
			}
			if err := w.RunSchedule(bg, "barrier", planned(w, "barrier/dissemination", 0, 1, nil, nil)); err != nil {
				return err
			}
			for i, k := range rand.New(rand.NewPCG(uint64(round), uint64(w.Rank()))).Perm(open) {
				if i%2 == 0 {
					for {
						_, over, err := p.Test(handles[k])
						if err != nil {
							return err
						}
						if over {
							break
						}
						runtime.Gosched()
					}
				} else if _, err := p.Wait(bg, handles[k]); err != nil {
					return err
				}
				if want := blocks(n, round+k, len(outs[k])/n); !bytes.Equal(outs[k], want) {
					return fmt.Errorf("round %d: the %d-th is wrong", round, k)
				}
			}
		}
		return leftNothing(w)
	})
}

// leftNothing returns an error for anything that collectives have left behind.
func leftNothing(w *Comm) error {
	p := w.Proc()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progress()
	ctx := dataContext(w.group.Index, Collective)
	if m := p.match.Unexpected(ctx); m > 0 && p.match.Accepts(ctx) {
		return fmt.Errorf("%d messages are left", m)
	}
	if len(w.schedules) > 0 || len(p.schedules.over) > 0 || p.busy.has(servesSchedules) {
		return fmt.Errorf("%d schedules and %d parts are left", len(w.schedules), len(p.schedules.over))
	}
	for _, r := range p.slots {
		if r.active() && r.kind != callRequest {
			return fmt.Errorf("a %s is left", r.what)
		}
	}
	return nil
}

// leavesNothing waits until nothing is left. A message that this rank has announced ends when its
// receiver refuses it:
//
//	2: fails, announces a notice to 0; the next allgather is over: it has 0's block from 1
//	0: has sent its block, and not yet polled for frames of 2
func leavesNothing(w *Comm) error {
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		if err := leftNothing(w); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// TestScheduleEndsWhenAMemberDies: each survivor ends, with its result or the error. The shrunk
// communicator works and holds no earlier messages.
func TestScheduleEndsWhenAMemberDies(t *testing.T) {
	for _, name := range []string{"allgather/ring", "alltoall/pairwise", "barrier/dissemination", "allreduce/recursive-doubling"} {
		for seed := range uint64(20) {
			const n = 4
			unit := lengths[int(seed)%len(lengths)]
			var failed atomic.Int32
			run(t, n, func(c *cluster, w *Comm) error {
				rnd := rand.New(rand.NewPCG(seed, 1))
				victim, rounds, yields := rnd.IntN(n), rnd.IntN(3), rnd.IntN(30)
				for round := range 5 {
					if w.Rank() == victim && round == rounds {
						go func() {
							for range yields {
								runtime.Gosched()
							}
							c.kill(w)
						}()
					}
					out, in := make([]byte, n*unit), blocks(n, round, unit)
					if name != "alltoall/pairwise" {
						in = block(w.Rank(), round, unit)
					}
					var err error
					s := planned(w, name, 0, unit, in, out)
					if round%2 == 0 {
						err = w.RunSchedule(bg, name, s)
					} else if h, e := w.StartSchedule(name, s); e != nil {
						err = e
					} else {
						_, err = w.Proc().Wait(bg, h)
					}
					switch {
					case w.Rank() == victim && errors.Is(err, ErrFenced):
						return nil
					case errors.Is(err, ulfm.ErrProcFailed) || errors.Is(err, ulfm.ErrRevoked):
						failed.Add(1)
						_ = w.Revoke()
					case err != nil:
						return fmt.Errorf("%s, seed %d, round %d: %w", name, seed, round, err)
					}
				}
				if w.Rank() == victim {
					for !w.Proc().Fenced() {
						runtime.Gosched()
					}
					return nil
				}
				if err := leftNothing(w); err != nil {
					return err
				}
				_, made, err := w.Call(bg, commstate.Call{Kind: commstate.KindShrink}, Contribution{}, "shrink")
				if err != nil {
					return err
				}
				out := make([]byte, made.Size())
				if err := made.RunSchedule(bg, "allgather", planned(made, "allgather/ring", 0, 1, []byte{9}, out)); err != nil || bytes.Count(out, []byte{9}) != made.Size() {
					return fmt.Errorf("after the shrink: %v, %w", out, err)
				}
				return leftNothing(made)
			})
		}
	}
}

// refusing is the consequence that a member with wrong arguments reports.
var refusing = Consequence{Tag: 5 << sched.NumberBits}

// TestARefusedCollective: a member does not take part, and sends a notice. A member that waits for
// it fails, whether it receives or sends; the communicator works on.
func TestARefusedCollective(t *testing.T) {
	for _, unit := range []int{0, 64, 100_000} {
		for _, name := range []string{"gather/linear", "scatter/linear", "allgather/ring"} {
			const n = 4
			run(t, n, func(_ *cluster, w *Comm) error {
				for round := range 6 {
					in := blocks(n, round, unit)
					s := planned(w, name, 0, unit, in, make([]byte, n*unit))
					s.Failed = func(error) Consequence { return refusing }
					switch wrong := round % n; {
					case w.Rank() == wrong:
						w.Refuse(false, refusing)
					default:
						err := w.RunSchedule(bg, name, s)
						// buffered sends await nothing
						sends := w.Rank() == 0 == (name == "scatter/linear")
						mayPass := name != "allgather/ring" && (sends && unit <= 64 || wrong != 0 && w.Rank() != 0)
						if !errors.Is(err, errNoticed) && !(err == nil && mayPass) {
							t.Errorf("%s of %d without rank %d: rank %d got %v", name, unit, wrong, w.Rank(), err)
						}
					}
					out := make([]byte, n)
					if err := w.RunSchedule(bg, "allgather", planned(w, "allgather/ring", 0, 1, []byte{byte(w.Rank())}, out)); err != nil || !bytes.Equal(out, []byte{0, 1, 2, 3}) {
						return fmt.Errorf("the next one: %v, %w", out, err)
					}
				}
				return nil
			})
		}
	}
}

// TestANoticeComesBeforeWhatFollows: a member refuses a collective and enters the next one. A
// member that waits for it with several receives handles the notice, and does not take the message
// after the notice for proof that the sender has left.
func TestANoticeComesBeforeWhatFollows(t *testing.T) {
	const n, unit = 3, 100_000
	run(t, n, func(_ *cluster, w *Comm) error {
		for round := range 100 {
			out := make([]byte, n*unit)
			s := planned(w, "allgather/ring", 0, unit, make([]byte, unit), out)
			s.Judge = func(_, tag, _, _ int, err error) error {
				if tag&sched.Notice == 0 {
					return errors.Join(fmt.Errorf("a message with tag %x", tag), err)
				}
				return errNoticed
			}
			s.Failed = func(err error) Consequence {
				if errors.Is(err, errNoticed) {
					return refusing
				}
				return Consequence{Revoke: true}
			}
			if w.Rank() == round%n {
				w.Refuse(false, refusing)
			} else if err := w.RunSchedule(bg, "allgather", s); !errors.Is(err, errNoticed) {
				return fmt.Errorf("round %d: %w", round, err)
			}
			all := make([]byte, n)
			if err := w.RunSchedule(bg, "allgather", planned(w, "allgather/ring", 0, 1, []byte{byte(w.Rank())}, all)); err != nil || !bytes.Equal(all, []byte{0, 1, 2}) {
				return fmt.Errorf("round %d, the next one: %v, %w", round, all, err)
			}
		}
		return nil
	})
}

// TestCombineMayFail: the member that cannot combine fails and notifies the others, and the
// communicator works on. Nothing is left of it: not even a notice that had to be announced, because
// a long message was before it in its sender's queue.
func TestCombineMayFail(t *testing.T) {
	for round := range 40 {
		unit := []int{1, 100_000}[round%2]
		run(t, 3, func(_ *cluster, w *Comm) error {
			wrong := errors.New("cannot combine")
			s := planned(w, "allreduce/recursive-doubling", 0, unit, make([]byte, unit), make([]byte, unit))
			s.Failed = func(error) Consequence { return refusing }
			if w.Rank() == 0 {
				s.Combine = func(_, _, _ []byte) error { return wrong }
			}
			want := []error{wrong, errNoticed, errNoticed}[w.Rank()]
			if err := w.RunSchedule(bg, "allreduce", s); !errors.Is(err, want) {
				return fmt.Errorf("got %w, want %v", err, want)
			}
			out := make([]byte, 3)
			if err := w.RunSchedule(bg, "allgather", planned(w, "allgather/ring", 0, 1, []byte{byte(w.Rank())}, out)); err != nil || !bytes.Equal(out, []byte{0, 1, 2}) {
				return fmt.Errorf("the next one: %v, %w", out, err)
			}
			return leavesNothing(w)
		})
	}
}

// TestACancelledScheduleRevokes: the others would wait for ever.
func TestACancelledScheduleRevokes(t *testing.T) {
	for _, unit := range []int{1, 100_000} {
		run(t, 3, func(_ *cluster, w *Comm) error {
			if w.Rank() == 2 {
				for !w.IsRevoked() {
					runtime.Gosched()
				}
				return leftNothing(w)
			}
			ctx, cancel := context.WithCancel(bg)
			defer cancel()
			if w.Rank() == 0 {
				go func() {
					for len(w.Proc().Waits()) == 0 {
						runtime.Gosched()
					}
					cancel()
				}()
			}
			err := w.RunSchedule(ctx, "allgather", planned(w, "allgather/ring", 0, unit, make([]byte, unit), make([]byte, 3*unit)))
			if want := []error{context.Canceled, ulfm.ErrRevoked}[w.Rank()]; !errors.Is(err, want) {
				return fmt.Errorf("got %w, want %v", err, want)
			}
			return leftNothing(w)
		})
	}
}

// TestALaterCollectiveIsNoticed: rank 1 has left the collective in which rank 0 waits
// for it, and is in the next one.
func TestALaterCollectiveIsNoticed(t *testing.T) {
	for _, early := range []bool{false, true} {
		sent := make(chan struct{})
		run(t, 2, func(_ *cluster, w *Comm) error {
			if w.Rank() == 1 {
				w.Refuse(false, Consequence{}) // it made another one, and notified nobody
				_, err := w.StartSchedule("bcast", planned(w, "bcast/binomial", 1, 8, nil, make([]byte, 8)))
				close(sent)
				return err
			}
			if early {
				<-sent
			}
			s := planned(w, "bcast/binomial", 1, 8, nil, make([]byte, 8))
			if err := w.RunSchedule(bg, "bcast", s); !errors.Is(err, errNoticed) {
				return fmt.Errorf("rank 0 got %w", err)
			}
			return nil
		})
	}
}

// TestScheduleWaitIsExplained: Awaited and Waits return the awaited ranks.
func TestScheduleWaitIsExplained(t *testing.T) {
	run(t, 3, func(_ *cluster, w *Comm) error {
		p := w.Proc()
		if w.Rank() == 0 {
			h, err := w.StartSchedule("igather", planned(w, "gather/linear", 0, 8, make([]byte, 8), make([]byte, 24)))
			if err != nil {
				return err
			}
			for got := 3; got > 1; got = len(p.Awaited(h)) {
				if _, over, err := p.Test(h); over || err != nil {
					return fmt.Errorf("over %v: %w", over, err)
				}
			}
			if all := p.Waits(); !slices.Equal(p.Awaited(h), []int{2}) || len(all) != 1 || all[0].Op != "igather" || !slices.Equal(all[0].Ranks, []int{2}) {
				return fmt.Errorf("waits for %v: %v", p.Awaited(h), all)
			}
			if err := w.Send(bg, Envelope{Rank: 2}, nil); err != nil {
				return err
			}
			_, err = p.Wait(bg, h)
			return err
		}
		if w.Rank() == 2 {
			if _, err := w.Recv(bg, Envelope{Rank: 0}, nil); err != nil {
				return err
			}
		}
		return w.RunSchedule(bg, "gather", planned(w, "gather/linear", 0, 8, make([]byte, 8), nil))
	})
}

// TestSharedWaitIsExplained: Waits returns the members that have not come to a collective in
// memory.
func TestSharedWaitIsExplained(t *testing.T) {
	run(t, 4, func(_ *cluster, w *Comm) error {
		barrier := func() error {
			return w.RunShared(bg, "barrier", 1, func(g *nodecoll.Group, code uint64) { g.Barrier(code) })
		}
		if w.Rank() > 0 {
			if _, err := w.Recv(bg, Envelope{Rank: 0}, nil); err != nil {
				return err
			}
			return barrier()
		}
		done := make(chan error, 1)
		go func() { done <- barrier() }()
		all := w.Proc().Waits()
		for ; len(all) == 0; all = w.Proc().Waits() {
			runtime.Gosched()
		}
		if len(all) != 1 || all[0].Op != "barrier" || !all[0].Together || !slices.Equal(all[0].Ranks, []int{1, 2, 3}) {
			t.Errorf("waits: %+v", all)
		}
		for rank := 1; rank < 4; rank++ {
			if err := w.Send(bg, Envelope{Rank: rank}, nil); err != nil {
				return err
			}
		}
		return <-done
	})
}
