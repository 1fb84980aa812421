package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
	"github.com/stretchr/testify/assert"
)

// A wrong call must return want at the rank that makes the call.
type wrong struct {
	name string
	want error
	call func(ctx context.Context, w *comm.Comm, length int) error
}

func wrongs(n int) []wrong {
	ints := func(length int) []int { return make([]int, length) }
	noOp := collectives.Op[int](nil)
	return []wrong{
		{"bcast", comm.ErrRoot, func(ctx context.Context, w *comm.Comm, l int) error { return collectives.Bcast(ctx, w, -1, ints(l)) }},
		{"bcast", comm.ErrRoot, func(ctx context.Context, w *comm.Comm, l int) error { return collectives.Bcast(ctx, w, n, ints(l)) }},
		{"bcast_value", comm.ErrRoot, func(ctx context.Context, w *comm.Comm, l int) error {
			v := ints(l)
			return collectives.BcastValue(ctx, w, n, &v)
		}},
		{"bcast_value", comm.ErrBuffer, func(ctx context.Context, w *comm.Comm, _ int) error {
			return collectives.BcastValue[[]int](ctx, w, 0, nil)
		}},
		{"reduce", comm.ErrRoot, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Reduce(ctx, w, n, ints(l), ints(l), collectives.Sum)
		}},
		{"reduce", comm.ErrUnsupported, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Reduce(ctx, w, 0, ints(l), ints(l), noOp)
		}},
		{"reduce", comm.ErrUnsupported, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Reduce(ctx, w, 0, ints(l), ints(l), collectives.Custom[int](nil, true))
		}},
		{"allreduce", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Allreduce(ctx, w, ints(l+1), ints(l), collectives.Sum)
		}},
		{"allreduce", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Allreduce(ctx, w, nil, ints(l), collectives.Sum)
		}},
		{"allreduce", comm.ErrUnsupported, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Allreduce(ctx, w, ints(l), ints(l), collectives.Unknown)
		}},
		{"gather", comm.ErrRoot, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Gather(ctx, w, -7, ints(l*n), ints(l))
		}},
		{"gather_value", comm.ErrRoot, func(ctx context.Context, w *comm.Comm, l int) error {
			_, err := collectives.GatherValue(ctx, w, n, ints(l))
			return err
		}},
		{"gather_value", comm.ErrType, func(ctx context.Context, w *comm.Comm, _ int) error {
			_, err := collectives.GatherValue(ctx, w, 0, func() {})
			return err
		}},
		{"scatter", comm.ErrRoot, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Scatter(ctx, w, n, ints(l), ints(l*n))
		}},
		{"allgather", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Allgather(ctx, w, ints(l*n+1), ints(l))
		}},
		{"allgather", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Allgather(ctx, w, nil, ints(l))
		}},
		{"alltoall", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Alltoall(ctx, w, ints(l*n), ints(l*n+n))
		}},
		{"alltoall", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Alltoall(ctx, w, ints(l*n+1), ints(l*n+1))
		}},
	}
}

// wrongAtRoot are wrong calls only where rank 0 makes them.
func wrongAtRoot(n int) []wrong {
	ints := func(length int) []int { return make([]int, length) }
	return []wrong{
		{"reduce", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Reduce(ctx, w, 0, ints(l+1), ints(l), collectives.Sum)
		}},
		{"reduce", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Reduce(ctx, w, 0, nil, ints(l), collectives.Sum)
		}},
		{"gather", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Gather(ctx, w, 0, ints(l), ints(l))
		}},
		{"scatter", comm.ErrLength, func(ctx context.Context, w *comm.Comm, l int) error {
			return collectives.Scatter(ctx, w, 0, ints(l), ints(l))
		}},
		{"bcast_value", comm.ErrType, func(ctx context.Context, w *comm.Comm, _ int) error {
			var v any = func() {}
			return collectives.BcastValue(ctx, w, 0, &v)
		}},
	}
}

func right(name string) verb {
	for _, v := range verbs {
		if v.name == name {
			return v
		}
	}
	panic("no verb " + name)
}

// TestWrongArgumentAtAll: everybody gets the typed error, and the communicator
// works on.
func TestWrongArgumentAtAll(t *testing.T) {
	const n = 4
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		for _, c := range wrongs(n) {
			err := c.call(ctx, w, short)
			var e *ulfm.Error
			if !errors.Is(err, c.want) || !errors.As(err, &e) || e.Op != c.name || e.Comm != "world" {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
			works(ctx, t, w, "after a wrong "+c.name)
		}
	})
}

// TestWrongArgumentAtOne: ranks that wait for the rank with the wrong argument get an error; no
// rank hangs; the next call works at all.
func TestWrongArgumentAtOne(t *testing.T) {
	const n = 5
	for _, length := range []int{1, short, big} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			for offender := range n {
				cases := wrongs(n)
				if offender == 0 {
					cases = append(cases, wrongAtRoot(n)...)
				}
				for _, c := range cases {
					at := fmt.Sprintf("%s of %d, wrong at rank %d", c.name, length, offender)
					v := right(c.name)
					if w.Rank() == offender {
						if err := c.call(ctx, w, length); !errors.Is(err, c.want) {
							t.Errorf("%s: %v, want %v", at, err, c.want)
						}
					} else {
						err := v.call(ctx, w, length)
						var e *ulfm.Error
						if err != nil && (!errors.Is(err, comm.ErrPeerArgument) || !errors.As(err, &e) || len(e.Ranks) != 1 || e.Ranks[0] != offender) {
							t.Errorf("%s: rank %d: %v", at, w.Rank(), err)
						}
						if err == nil && v.synchronizes {
							t.Errorf("%s: rank %d succeeded", at, w.Rank())
						}
					}
					works(ctx, t, w, "after "+at)
				}
			}
		})
	}
}

// meeting are collectives with messages that meet: if members call different ones of a group, some
// member always notices.
var meeting = [][]string{
	{"barrier", "reduce", "allreduce"},
	{"gather", "gather_value", "allgather"},
	{"bcast", "bcast_value"},
}

// TestDifferentCallsAreNoticed: one rank calls another collective than the rest.
// Somebody names both calls, nobody hangs, and a shrunk communicator works.
func TestDifferentCallsAreNoticed(t *testing.T) {
	const n = 4
	for _, group := range meeting {
		for _, one := range group {
			for _, rest := range group {
				for odd := range n {
					if one != rest {
						differentCalls(t, n, right(one), right(rest), odd)
					}
				}
			}
		}
	}
}

func differentCalls(t *testing.T, n int, one, rest verb, odd int) {
	t.Helper()
	at := fmt.Sprintf("%s at rank %d, %s at the others", one.name, odd, rest.name)
	named := make([]bool, n)
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		v := rest
		if w.Rank() == odd {
			v = one
		}
		err := v.call(ctx, w, big)
		var e *ulfm.Error
		named[w.Rank()] = errors.Is(err, comm.ErrMismatch) && strings.Contains(err.Error(), one.name) && strings.Contains(err.Error(), rest.name) &&
			errors.As(err, &e) && len(e.Ranks) == 1
		for err == nil { // this rank noticed nothing, but must not stay waiting
			err = collectives.Barrier(ctx, w)
		}
		if !errors.Is(err, comm.ErrMismatch) && !errors.Is(err, ulfm.ErrRevoked) {
			t.Errorf("%s: rank %d: %v", at, w.Rank(), err)
		}
		s, err := w.Shrink(ctx)
		if err != nil {
			t.Errorf("%s: rank %d: %v", at, w.Rank(), err)
			return
		}
		works(ctx, t, s, "after "+at)
	})
	if !anyTrue(named) {
		t.Errorf("%s: nobody named both", at)
	}
}

func anyTrue(bs []bool) bool {
	for _, b := range bs {
		if b {
			return true
		}
	}
	return false
}

// TestDifferentArgumentsAreNoticed: same collective, but not the same call.
func TestDifferentArgumentsAreNoticed(t *testing.T) {
	const n = 4
	type call func(ctx context.Context, w *comm.Comm) error
	ints := func(length int) []int { return make([]int, length) }
	for name, c := range map[string]struct {
		odd, rest call
		say       []string
	}{
		"length of bcast": {
			func(ctx context.Context, w *comm.Comm) error { return collectives.Bcast(ctx, w, 0, ints(short)) },
			func(ctx context.Context, w *comm.Comm) error { return collectives.Bcast(ctx, w, 0, ints(big)) },
			[]string{"different lengths: bcast (root 0) of 3 int here", "of 5000 int at rank"},
		},
		"length of allreduce": {
			func(ctx context.Context, w *comm.Comm) error {
				return collectives.Allreduce(ctx, w, ints(2), ints(2), collectives.Sum)
			},
			func(ctx context.Context, w *comm.Comm) error {
				return collectives.Allreduce(ctx, w, ints(1), ints(1), collectives.Sum)
			},
			[]string{"different lengths: allreduce (sum) of 1 int here, of 2 int at rank"},
		},
		"length of allgather": {
			func(ctx context.Context, w *comm.Comm) error {
				return collectives.Allgather(ctx, w, ints(big*n), ints(big))
			},
			func(ctx context.Context, w *comm.Comm) error {
				return collectives.Allgather(ctx, w, ints(n*2*big), ints(2*big))
			},
			[]string{"different lengths: allgather of"},
		},
		"operation": {
			func(ctx context.Context, w *comm.Comm) error {
				return collectives.Allreduce(ctx, w, ints(1), ints(1), collectives.Max)
			},
			func(ctx context.Context, w *comm.Comm) error {
				return collectives.Allreduce(ctx, w, ints(1), ints(1), collectives.Min)
			},
			[]string{"allreduce (min)", "allreduce (max)"},
		},
		"type": {
			func(ctx context.Context, w *comm.Comm) error {
				return collectives.Allgather(ctx, w, make([]float64, n), make([]float64, 1))
			},
			func(ctx context.Context, w *comm.Comm) error { return collectives.Allgather(ctx, w, ints(n), ints(1)) },
			[]string{"different element types: allgather of 1 float64 here, of 1 int at rank"},
		},
	} {
		for _, odd := range []int{1, 2} {
			text := make([]string, n)
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				f := c.rest
				if w.Rank() == odd {
					f = c.odd
				}
				if err := f(ctx, w); err != nil {
					text[w.Rank()] = err.Error()
					if !errors.Is(err, comm.ErrMismatch) {
						t.Errorf("%s: rank %d: %v", name, w.Rank(), err)
					}
				}
				works(ctx, t, w, "after another "+name)
			})
			for _, want := range c.say {
				if !strings.Contains(strings.Join(text, "\n"), want) {
					t.Errorf("%s: nobody said %q:\n%s", name, want, strings.Join(text, "\n"))
				}
			}
		}
	}
}

// TestLargeCallsAfterDifferentOnes: after calls with different lengths, some members have used a
// ring and others have not. The next large calls must still find each other's data.
func TestLargeCallsAfterDifferentOnes(t *testing.T) {
	const long = 20_000 // more than is sent whole where ranks share cores
	for _, n := range []int{2, 4} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			length := long
			if w.Rank() == 1 {
				length = short
			}
			if err := collectives.Bcast(ctx, w, 0, make([]int, length)); err != nil {
				assert.ErrorIs(t, err, comm.ErrMismatch)
			}
			for round := range 3 {
				from, sum := make([]int, long), make([]int, long)
				for i := range from {
					from[i] = i + w.Rank()*long
				}
				assert.NoError(t, collectives.Allreduce(ctx, w, sum, from, collectives.Sum))
				assert.NoError(t, collectives.Bcast(ctx, w, 0, from))
				wrong := 0
				for i := range from {
					if from[i] != i || sum[i] != n*i+n*(n-1)/2*long {
						wrong++
					}
				}
				assert.Zero(t, wrong, "rank %d of %d, round %d: of %d elements", w.Rank(), n, round, long)
			}
		})
	}
}

// TestOutOfStepIsRevoked: rank 1 makes one call less than the others. Rank 2 may detect that before
// the message of rank 0 has arrived.
func TestOutOfStepIsRevoked(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		var err error
		if w.Rank() != 1 {
			err = collectives.Bcast(ctx, w, 0, make([]int, 1))
		}
		if err == nil {
			err = collectives.Bcast(ctx, w, 2, make([]int, 1))
		}
		for err == nil {
			err = collectives.Barrier(ctx, w)
		}
		if !errors.Is(err, comm.ErrMismatch) && !errors.Is(err, ulfm.ErrRevoked) {
			t.Errorf("rank %d: %v", w.Rank(), err)
		}
	})
}

// TestDifferentRootsAreNoticed where a message meets a receive: rank 3 receives from rank 2 in both
// trees.
func TestDifferentRootsAreNoticed(t *testing.T) {
	bcast := func(root int) verb {
		return verb{name: fmt.Sprintf("bcast (root %d)", root), call: func(ctx context.Context, w *comm.Comm, length int) error {
			return collectives.Bcast(ctx, w, root, make([]int, length))
		}}
	}
	differentCalls(t, 4, bcast(2), bcast(0), 3)
}

func TestNilCommunicatorAndFreedOnes(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if err := d.Free(); err != nil {
			t.Error(err)
		}
		for _, v := range verbs {
			if err := v.call(ctx, d, short); !errors.Is(err, comm.ErrFreed) {
				t.Errorf("%s on a freed communicator: %v", v.name, err)
			}
			works(ctx, t, w, v.name)
		}
		if err := w.Finalize(ctx); err != nil {
			t.Error(err)
		}
		for _, v := range verbs {
			if err := v.call(ctx, w, short); !errors.Is(err, comm.ErrFinalized) {
				t.Errorf("%s on a finalized communicator: %v", v.name, err)
			}
		}
	})
	if err := collectives.Barrier(t.Context(), nil); !errors.Is(err, comm.ErrArgument) {
		t.Error(err)
	}
}
