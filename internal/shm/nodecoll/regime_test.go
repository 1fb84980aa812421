package nodecoll

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhichAlgorithm checks the table of the package comment: the algorithm of each operation up to
// a size and above the size, and the members for which the algorithm waits.
func TestWhichAlgorithm(t *testing.T) {
	const large = 1 << 20
	type upTo struct {
		bytes int
		phase phase
	}
	for _, x := range []struct {
		n, me  int // root is member 0
		mutual bool
		verb   verb
		rows   []upTo // by the size of a vector, or of a part
	}{
		{3, 1, true, barrier, []upTo{{0, collecting}}},
		{3, 1, false, barrier, []upTo{{0, counting}}},
		{9, 1, true, barrier, []upTo{{0, counting}}},
		{2, 1, true, barrier, []upTo{{0, facing}}},

		{3, 0, true, bcast, []upTo{{4 << 10, idle}, {large, streaming}}},
		{3, 1, true, bcast, []upTo{{4 << 10, reading}, {large, streaming}}},
		{3, 1, false, bcast, []upTo{{64 << 10, reading}, {large, streaming}}},

		{2, 0, true, reduce, []upTo{{4 << 10, collecting}, {large, passing}}},
		{3, 0, true, reduce, []upTo{{8 << 10, collecting}, {large, reducing}}},
		{3, 1, true, reduce, []upTo{{8 << 10, idle}, {large, reducing}}},
		{9, 0, true, reduce, []upTo{{64 << 10, collecting}, {large, reducing}}},
		{2, 0, false, reduce, []upTo{{64 << 10, collecting}, {large, reducing}}},

		{2, 1, true, allreduce, []upTo{{4 << 10, facing}, {64 << 10, swapping}, {large, reducing}}},
		{3, 1, true, allreduce, []upTo{{8 << 10, collecting}, {large, reducing}}},
		{8, 1, true, allreduce, []upTo{{16 << 10 / 7, collecting}, {large, reducing}}},
		{2, 1, false, allreduce, []upTo{{32 << 10, counting}, {large, reducing}}},
		{9, 1, true, allreduce, []upTo{{64 << 10 / 9, counting}, {large, reducing}}},

		{3, 1, true, scan, []upTo{{4 << 10, chaining}, {large, passing}}},
		{3, 1, false, exscan, []upTo{{64 << 10, chaining}, {large, passing}}},

		{3, 0, true, gather, []upTo{{64 << 10, collecting}}},
		{3, 1, false, gather, []upTo{{64 << 10, idle}}},
		{3, 0, true, scatter, []upTo{{8 << 10, idle}, {large, pulling}}},
		{3, 1, true, scatter, []upTo{{8 << 10, reading}, {large, pulling}}},
		{3, 1, false, scatter, []upTo{{220 << 10, reading}, {large, pulling}}},
		{2, 1, true, allgather, []upTo{{4 << 10, facing}, {16 << 10, collecting}, {large, pulling}}},
		{3, 1, true, allgather, []upTo{{16 << 10, collecting}, {large, pulling}}},
		{3, 1, false, allgather, []upTo{{64 << 10, counting}, {large, pulling}}},
		{2, 1, true, alltoall, []upTo{{4 << 10, facing}, {8 << 10, collecting}, {large, pulling}}},
		{4, 1, true, alltoall, []upTo{{4 << 10, collecting}, {large, pulling}}},
		{4, 1, false, alltoall, []upTo{{16 << 10, counting}, {large, pulling}}},
		{2, 1, true, reduceScatter, []upTo{{4 << 10, facing}, {32 << 10, collecting}}},
		{4, 1, false, reduceScatter, []upTo{{16 << 10, counting}}},
	} {
		from := 0
		for _, row := range x.rows {
			for _, size := range []int{from, row.bytes} {
				w := newWorld(x.n)
				a := &actor{w: w, g: New(w.config(x.me, x.mutual, 0)), me: x.me, n: x.n, calls: []*call{{verb: x.verb, size: size, elem: 1}}}
				a.g.announcedOp = -slots // disables the paths that complete in the call
				if row.phase == facing {
					a.g.announcedOp = 0
				}
				a.start()
				name := fmt.Sprintf("%v of %d bytes, member %d of %d, %s", x.verb, size, x.me, x.n, regimeName(x.mutual))
				assert.Equal(t, row.phase, a.g.next, name)
				for word, _ := a.g.Awaits(); word == nil && !a.g.Advance(); word, _ = a.g.Awaits() {
					continue // the member copies its own data
				}
				assert.Equal(t, waitsAlone(a.g), a.g.Waits(), name)
			}
			from = row.bytes + 1
		}
	}
}

// waitsAlone returns the members for which the first member in an operation waits.
func waitsAlone(g *Group) (waits []int) {
	switch {
	case g.Done():
		return nil
	case g.central && !g.centre.introduced && (g.next == counting || g.next == reducing): // member 0 has not made its Group
		return []int{0}
	case g.next == reading, g.next == chaining, g.me > 0 && (g.next == streaming || g.next == passing), g.me > 0 && g.verb == scatter:
		return []int{0}
	case g.next == pulling && g.verb != scatter:
		return []int{(g.me + 1) % len(g.members)}
	}
	for m := range g.members {
		if m != g.me {
			waits = append(waits, m)
		}
	}
	return waits
}

// TestCompletesInTheCall: a member that waits for no other member completes in the call, and so
// does the other when the first member's line is there. A payload that fits a line uses the quick
// path.
func TestCompletesInTheCall(t *testing.T) {
	for _, v := range []verb{bcast, reduce, gather, scatter, scan} {
		for _, size := range []int{inlineOf(2), inlineOf(2) + 1} {
			w := newWorld(2)
			c := &call{verb: v, size: size, elem: 1, seed: 5}
			sender := 0
			if v == reduce || v == gather {
				sender = 1
			}
			for _, me := range []int{sender, 1 - sender} {
				a := &actor{w: w, g: New(w.config(me, true, 0)), me: me, n: 2, calls: []*call{c}}
				a.start()
				name := fmt.Sprintf("%v of %d bytes, member %d", v, size, me)
				assert.True(t, a.g.Done(), name)
				assert.Equal(t, size <= inlineOf(2), a.g.budget == 0, name) // the normal path sets a budget
				_, err := a.advance()
				assert.NoError(t, err, name)
			}
		}
	}
}
