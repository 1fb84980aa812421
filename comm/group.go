package comm

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/shm/node"
)

// A Group is an ordered set of processes, each identified by its number in the job. In the world
// with which the job began, the number is the rank; a number is never used twice. Comm.RankOf and
// Comm.RanksOf return the ranks that processes have in a communicator. Operations on groups are
// local. The zero value is the empty group.
type Group struct {
	procs []int // processes
	me    int   // this process
}

// Size returns the number of members.
func (g Group) Size() int { return len(g.procs) }

// Rank returns this process's place in the group, or Undefined.
func (g Group) Rank() int {
	if i := slices.Index(g.procs, g.me); i >= 0 {
		return i
	}
	return Undefined
}

// slots returns the places of the processes in the tables of the job.
func (g Group) slots() []int {
	slots := make([]int, len(g.procs))
	for i, number := range g.procs {
		slots[i] = node.Slot(number)
	}
	return slots
}

// Processes returns the members' numbers in the job, in the group's order.
func (g Group) Processes() []int { return slices.Clone(g.procs) }

// Union returns the members of g, then those of h that are not in g.
func (g Group) Union(h Group) Group {
	if g.Size() == 0 { // the zero value does not know its own process
		return h
	}
	return Group{procs: append(slices.Clone(g.procs), h.Difference(g).procs...), me: g.me}
}

// Intersect returns the members of g that are in h, in g's order.
func (g Group) Intersect(h Group) Group {
	return g.filter(func(p int) bool { return slices.Contains(h.procs, p) })
}

// Difference returns the members of g that are not in h, in g's order.
func (g Group) Difference(h Group) Group {
	return g.filter(func(p int) bool { return !slices.Contains(h.procs, p) })
}

func (g Group) filter(keep func(proc int) bool) Group {
	out := Group{me: g.me}
	for _, p := range g.procs {
		if keep(p) {
			out.procs = append(out.procs, p)
		}
	}
	return out
}

// Incl returns the members at the given places, in that order. Places out of
// range or named twice are ErrRank.
func (g Group) Incl(places ...int) (Group, error) {
	out := Group{me: g.me}
	for _, i := range places {
		if i < 0 || i >= len(g.procs) || slices.Contains(out.procs, g.procs[i]) {
			return Group{}, fail("incl", nil, nil, fmt.Errorf("%w: place %d of %d, or twice", ErrRank, i, len(g.procs)))
		}
		out.procs = append(out.procs, g.procs[i])
	}
	return out, nil
}

// Excl returns the members that are not at the given places. Places out of range or named twice are
// ErrRank.
func (g Group) Excl(places ...int) (Group, error) {
	in, err := g.Incl(places...)
	if err != nil {
		return Group{}, err
	}
	return g.Difference(in), nil
}

// Translate returns, for each place in g, the member's place in h, or Undefined. A place out of
// range is ErrRank.
func (g Group) Translate(h Group, places ...int) ([]int, error) {
	out := make([]int, len(places))
	for k, i := range places {
		if i < 0 || i >= len(g.procs) {
			return nil, fail("translate", nil, nil, fmt.Errorf("%w: place %d of %d", ErrRank, i, len(g.procs)))
		}
		if out[k] = slices.Index(h.procs, g.procs[i]); out[k] < 0 {
			out[k] = Undefined
		}
	}
	return out, nil
}

// Equal reports whether both have the same members in the same order.
func (g Group) Equal(h Group) bool { return slices.Equal(g.procs, h.procs) }

// String prints the members' numbers in the job: "[3 5]".
func (g Group) String() string { return fmt.Sprint(g.procs) }
