package shrink

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A moment is the point of a turn at which a victim dies.
type moment int

const (
	atBarrier    moment = iota // when it should call one
	amid                       // at some instant from the second barrier on
	beforeRevoke               // when it has seen the error
	afterRevoke
	inShrink // at some instant from the call on
	moments
)

func (m moment) String() string {
	return [...]string{"before a barrier", "amid barriers", "before the revocation", "after the revocation", "in the shrink"}[m]
}

// silent reports whether a victim of this moment never calls Shrink: it cannot be in the shrunk
// communicator. A victim that dies at some instant may have called Shrink.
func (m moment) silent() bool { return m != amid && m != inShrink }

// starts reports whether such a death needs no other one before it.
func (m moment) starts() bool { return m == atBarrier || m == amid }

// A death is one in a plan.
type death struct {
	rank    int // in the world
	when    moment
	barrier int           // atBarrier: before which one, from 1
	after   time.Duration // amid, inShrink
}

// A plan is the events of a turn.
type plan struct {
	deaths []death
	ask    bool // agree on the dead before the shrink
}

const (
	barriersMax = 6
	instantMax  = 400 * time.Microsecond
)

// draw makes the plan of a turn with the ranks that no earlier plan kills. At least one of them
// stays; the first death of a turn needs no other one.
func draw(seed uint64, turn int, living []int) plan {
	rng := rand.New(rand.NewPCG(seed, uint64(turn)))
	p := plan{ask: rng.IntN(2) == 0}
	if len(living) == 1 {
		return p
	}
	count := 1
	if rng.IntN(3) > 0 {
		count += rng.IntN(len(living) - 1)
	}
	for i, at := range rng.Perm(len(living))[:count] {
		d := death{rank: living[at], when: moment(rng.IntN(int(moments)))}
		for i == 0 && !d.when.starts() {
			d.when = moment(rng.IntN(int(moments)))
		}
		d.barrier, d.after = 1+rng.IntN(barriersMax), time.Duration(rng.Int64N(int64(instantMax)))
		p.deaths = append(p.deaths, d)
	}
	return p
}

// of returns the death of a rank, or nil.
func (p plan) of(rank int) *death {
	for i, d := range p.deaths {
		if d.rank == rank {
			return &p.deaths[i]
		}
	}
	return nil
}

// without returns the ranks that the plan lets live.
func (p plan) without(living []int) []int {
	return slices.DeleteFunc(slices.Clone(living), func(r int) bool { return p.of(r) != nil })
}

// upTo is a list of the ranks of a world.
func upTo(n int) []int {
	all := make([]int, n)
	for r := range all {
		all[r] = r
	}
	return all
}
