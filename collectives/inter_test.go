package collectives_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

var groupA, groupB = []int{3, 0}, []int{1, 4, 2}

// across runs body with an intercommunicator of groupA and groupB. second reports that this rank is
// in groupB.
func across(t *testing.T, body func(ctx context.Context, ic *comm.Intercomm, second bool)) {
	t.Helper()
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, groupA, groupB)
		if assert.NoError(t, err) {
			body(ctx, ic, slices.Contains(groupB, w.Rank()))
		}
	})
}

// item is the i-th element that a rank of a group sends: no two are alike.
func item(second bool, rank, i int) int {
	if second {
		rank += 100
	}
	return 1000*rank + i
}

func items(second bool, rank, n int) []int {
	all := []int{}
	for i := range n {
		all = append(all, item(second, rank, i))
	}
	return all
}

// rootOf is the root argument of a rank.
func rootOf(ic *comm.Intercomm, second, rootSecond bool, root int) int {
	switch {
	case second != rootSecond:
		return root
	case ic.Rank() == root:
		return collectives.Root
	}
	return comm.None
}

// eachRoot calls body for each rank of both groups as the root, and several lengths.
func eachRoot(t *testing.T, body func(ctx context.Context, ic *comm.Intercomm, second bool, root, rank, n int)) {
	t.Helper()
	across(t, func(ctx context.Context, ic *comm.Intercomm, second bool) {
		for _, n := range []int{0, 1, 3, 5000} {
			for rank := range groupA {
				body(ctx, ic, second, rootOf(ic, second, false, rank), rank, n)
			}
			for rank := range groupB {
				body(ctx, ic, second, rootOf(ic, second, true, rank), rank, n)
			}
		}
	})
}

func TestInterBcast(t *testing.T) {
	eachRoot(t, func(ctx context.Context, ic *comm.Intercomm, second bool, root, rank, n int) {
		var buf []int
		switch root {
		case collectives.Root:
			buf = items(second, rank, n)
		case comm.None:
		default:
			buf = make([]int, n)
		}
		assert.NoError(t, collectives.InterBcast(ctx, ic, root, buf))
		if root >= 0 {
			assert.Equal(t, items(!second, rank, n), buf)
		}
	})
}

// TestInterGather, with other lengths of the slices that are not used, and none.
func TestInterGather(t *testing.T) {
	eachRoot(t, func(ctx context.Context, ic *comm.Intercomm, second bool, root, _, n int) {
		dst, src := make([]int, 7), make([]int, 3)
		if root == collectives.Root {
			dst = make([]int, n*ic.RemoteSize())
		} else if root >= 0 {
			src = items(second, ic.Rank(), n)
		}
		assert.NoError(t, collectives.InterGather(ctx, ic, root, dst, src))
		if root != collectives.Root {
			assert.Equal(t, make([]int, 7), dst)
			return
		}
		for r := range ic.RemoteSize() {
			assert.Equal(t, items(!second, r, n), dst[r*n:(r+1)*n])
		}
	})
}

func TestInterScatter(t *testing.T) {
	eachRoot(t, func(ctx context.Context, ic *comm.Intercomm, second bool, root, rank, n int) {
		dst, src := make([]int, 7), make([]int, 3)
		if root == collectives.Root {
			src = items(second, rank, n*ic.RemoteSize())
		} else if root >= 0 {
			dst = make([]int, n)
		}
		assert.NoError(t, collectives.InterScatter(ctx, ic, root, dst, src))
		if root >= 0 {
			assert.Equal(t, items(!second, rank, n*ic.Size())[n*ic.Rank():], append(dst, items(!second, rank, n*ic.Size())[n*(ic.Rank()+1):]...))
		} else {
			assert.Equal(t, make([]int, 7), dst)
		}
	})
}

// TestInterReduce by an operation that keeps the order, and by the package's.
func TestInterReduce(t *testing.T) {
	maps := func(second bool, r int) uint64 {
		return uint64(2*item(second, r, 0)+3)<<32 | uint64(item(second, r, 7))
	}
	op := collectives.Custom(compose[uint64], false)
	eachRoot(t, func(ctx context.Context, ic *comm.Intercomm, second bool, root, _, n int) {
		dst := make([]uint64, n)
		src := slices.Repeat([]uint64{maps(second, ic.Rank())}, n)
		assert.NoError(t, collectives.InterReduce(ctx, ic, root, dst, src, op))
		sums := make([]uint64, n)
		assert.NoError(t, collectives.InterReduce(ctx, ic, root, sums, src, collectives.Sum))
		want, sum := maps(!second, 0), maps(!second, 0)
		for r := 1; r < ic.RemoteSize(); r++ {
			want = composition(want, maps(!second, r))
			sum += maps(!second, r)
		}
		if root != collectives.Root {
			want, sum = 0, 0
		}
		assert.Equal(t, slices.Repeat([]uint64{want}, n), dst)
		assert.Equal(t, slices.Repeat([]uint64{sum}, n), sums)
	})
}

// TestInterAllgatherAndAlltoall: each direction has its own length, also none.
func TestInterAllgatherAndAlltoall(t *testing.T) {
	across(t, func(ctx context.Context, ic *comm.Intercomm, second bool) {
		for _, n := range [][2]int{{2, 3}, {0, 1}, {4000, 0}, {3000, 2}} {
			mine, theirs := n[0], n[1]
			if second {
				mine, theirs = theirs, mine
			}
			dst := make([]int, theirs*ic.RemoteSize())
			assert.NoError(t, collectives.InterAllgather(ctx, ic, dst, items(second, ic.Rank(), mine)))
			for r := range ic.RemoteSize() {
				assert.Equal(t, items(!second, r, theirs), dst[r*theirs:(r+1)*theirs])
			}
			dst = make([]int, theirs*ic.RemoteSize())
			assert.NoError(t, collectives.InterAlltoall(ctx, ic, dst, items(second, ic.Rank(), mine*ic.RemoteSize())))
			for r := range ic.RemoteSize() {
				sent := items(!second, r, theirs*ic.Size())
				assert.Equal(t, sent[ic.Rank()*theirs:(ic.Rank()+1)*theirs], dst[r*theirs:(r+1)*theirs])
			}
		}
		sum := []int{ic.Rank() + 1}
		assert.NoError(t, collectives.InterAllreduce(ctx, ic, sum, sum, collectives.Sum))
		assert.Equal(t, ic.RemoteSize()*(ic.RemoteSize()+1)/2, sum[0])
	})
}

// TestInterArguments: a wrong argument is an error at the member that passes it, never a wait at
// the others, and the next collective works.
func TestInterArguments(t *testing.T) {
	parts := make([]int, 6) // for both groups
	for name, c := range map[string]struct {
		call  func(ctx context.Context, ic *comm.Intercomm, second bool) error
		class error // at rank 0 of groupA, which is wrong
		other error // at groupB; nil: the call may have succeeded before
	}{
		"a root that the group has not": {func(ctx context.Context, ic *comm.Intercomm, second bool) error {
			if second {
				return collectives.InterGather(ctx, ic, comm.None, nil, []int(nil))
			}
			return collectives.InterGather(ctx, ic, 3, nil, []int{1})
		}, comm.ErrRoot, nil},
		"no multiple, gather": {func(ctx context.Context, ic *comm.Intercomm, second bool) error {
			return collectives.InterGather(ctx, ic, rootOf(ic, second, false, 0), parts[:4], []int{1})
		}, comm.ErrLength, nil},
		"no multiple, scatter": {func(ctx context.Context, ic *comm.Intercomm, second bool) error {
			return collectives.InterScatter(ctx, ic, rootOf(ic, second, false, 0), []int{1}, parts[:4])
		}, comm.ErrLength, comm.ErrPeerArgument},
		"no operation": {func(ctx context.Context, ic *comm.Intercomm, second bool) error {
			return collectives.InterReduce(ctx, ic, rootOf(ic, second, false, 0), parts[:1], parts[:1], nil)
		}, comm.ErrUnsupported, comm.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			across(t, func(ctx context.Context, ic *comm.Intercomm, second bool) {
				err := c.call(ctx, ic, second)
				switch {
				case !second && ic.Rank() == 0:
					assert.ErrorIs(t, err, c.class)
				case second && c.other != nil:
					assert.ErrorIs(t, err, c.other)
				case second && err != nil:
					assert.ErrorIs(t, err, comm.ErrPeerArgument)
				}
				all := make([]int, ic.RemoteSize())
				assert.NoError(t, collectives.InterAllgather(ctx, ic, all, []int{ic.Rank()}))
				assert.Equal(t, []int{0, 1, 2}[:ic.RemoteSize()], all)
			})
		})
	}
	for name, err := range map[string]error{
		"reduce":    collectives.InterReduce(t.Context(), nil, 0, []int{1}, []int{1}, collectives.Sum),
		"gather":    collectives.InterGather(t.Context(), nil, 0, []int{1}, []int{1}),
		"scatter":   collectives.InterScatter(t.Context(), nil, 0, []int{1}, []int{1}),
		"allgather": collectives.InterAllgather(t.Context(), nil, []int{1}, []int{1}),
		"alltoall":  collectives.InterAlltoall(t.Context(), nil, []int{1}, []int{1}),
	} {
		assert.Error(t, err, "%s of no intercommunicator", name)
	}
}

// TestInterMismatch: other lengths than the other group's.
func TestInterMismatch(t *testing.T) {
	across(t, func(ctx context.Context, ic *comm.Intercomm, second bool) {
		n := 2
		if second {
			n = 1
		}
		err := collectives.InterAllgather(ctx, ic, make([]int, n*ic.RemoteSize()), make([]int, n))
		assert.ErrorIs(t, err, comm.ErrMismatch)
	})
}

// TestInterFailure: with a death every member of both groups returns from each call, and members
// that needed the dead process return ErrProcFailed.
func TestInterFailure(t *testing.T) {
	calls := map[string]func(ctx context.Context, ic *comm.Intercomm, second bool) error{
		"gather": func(ctx context.Context, ic *comm.Intercomm, second bool) error {
			return collectives.InterGather(ctx, ic, rootOf(ic, second, false, 0), make([]int, 3), []int{1})
		},
		"scatter": func(ctx context.Context, ic *comm.Intercomm, second bool) error {
			return collectives.InterScatter(ctx, ic, rootOf(ic, second, true, 1), []int{1}, make([]int, 2))
		},
		"reduce": func(ctx context.Context, ic *comm.Intercomm, second bool) error {
			return collectives.InterReduce(ctx, ic, rootOf(ic, second, false, 0), []int{1}, []int{1}, collectives.Sum)
		},
		"allgather": func(ctx context.Context, ic *comm.Intercomm, _ bool) error {
			return collectives.InterAllgather(ctx, ic, make([]int, ic.RemoteSize()), []int{1})
		},
		"alltoall": func(ctx context.Context, ic *comm.Intercomm, _ bool) error {
			return collectives.InterAlltoall(ctx, ic, make([]int, ic.RemoteSize()), make([]int, ic.RemoteSize()))
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
				ic, err := commtest.Intercomm(ctx, w, groupA, groupB)
				if !assert.NoError(t, err) {
					return
				}
				if w.Rank() == 4 { // rank 1 of groupB
					commtest.Kill(w)
				}
				assert.NoError(t, commtest.AwaitFailure(ctx, w, 1))
				err = call(ctx, ic, slices.Contains(groupB, w.Rank()))
				assert.ErrorIs(t, err, comm.ErrProcFailed, "rank %d", w.Rank()) // R55
			})
		})
	}
}

// Masters gather the data of workers, and the first master gives each worker its part.
func ExampleInterGather() {
	ranks(5, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, []int{0, 1}, []int{2, 3, 4}) // or w.Spawn
		if err != nil {
			fmt.Println(err)
			return
		}
		root := 0 // at the workers: the first master
		if w.Rank() == 0 {
			root = collectives.Root
		} else if w.Rank() == 1 {
			root = comm.None
		}
		part, all := []int{0}, make([]int, 3)
		err = collectives.InterScatter(ctx, ic, root, part, []int{5, 6, 7})
		if err == nil {
			part[0] *= part[0]
			err = collectives.InterGather(ctx, ic, root, all, part)
		}
		if w.Rank() == 0 {
			fmt.Println(all, err)
		}
	})
	// Output: [25 36 49] <nil>
}

// Each group gets the sum, and the parts, of the other.
func ExampleInterAllgather() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, []int{0}, []int{1, 2})
		if err != nil {
			fmt.Println(err)
			return
		}
		all := make([]int, ic.RemoteSize())
		err = collectives.InterAllgather(ctx, ic, all, []int{10 * w.Rank()})
		back := make([]int, ic.RemoteSize())
		err2 := collectives.InterAlltoall(ctx, ic, back, all)
		sum := []int{0}
		root := []int{collectives.Root, 0, 0}[w.Rank()]
		err3 := collectives.InterReduce(ctx, ic, root, sum, []int{w.Rank()}, collectives.Sum)
		if w.Rank() == 0 {
			fmt.Println(all, back, sum, err, err2, err3)
		}
	})
	// Output: [10 20] [0 0] [3] <nil> <nil> <nil>
}
