package faultproxy

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A Direction is one of the two streams of a connection.
type Direction int

// The directions.
const (
	ToTarget Direction = iota // the data of the dialer
	ToDialer                  // the data of the target
)

// An Act is a fault of a connection. The package comment has its effects at both ends.
type Act uint8

// The acts.
const (
	Cut Act = iota
	End
	Stall
	HalfOpen
	Swallow
	Garble

	acts // the number of acts
)

// String returns the act in a word.
func (a Act) String() string {
	return [...]string{"cut", "end", "stall", "half-open", "swallow", "garble"}[a]
}

// A Fault is one act at one place: after At bytes of a direction. Garble changes the next byte.
type Fault struct {
	Direction Direction
	At        int64
	Act       Act
}

// A Script has the faults of one connection.
type Script struct {
	Faults []Fault
	Delay  time.Duration // of each byte, in both directions
}

// A Plan returns the script of the n-th connection, counted from 0. The relay calls a plan once
// for each connection, in one goroutine at a time.
type Plan func(n int) Script

// Random returns a plan in which each connection has a fault in each direction: one of the acts,
// at a byte of [least, most]. The plan depends on seed and nothing else.
func Random(seed uint64, least, most int64, acts ...Act) Plan {
	return func(n int) (s Script) {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		for _, d := range [2]Direction{ToTarget, ToDialer} {
			s.Faults = append(s.Faults, Fault{Direction: d, At: least + rng.Int64N(most-least+1), Act: acts[rng.IntN(len(acts))]})
		}
		return s
	}
}

// First returns a plan in which the first connections have scripts, one each, and the others
// none.
func First(scripts ...Script) Plan {
	return func(n int) Script {
		if n < len(scripts) {
			return scripts[n]
		}
		return Script{}
	}
}

// of returns the faults of one direction in order.
func (s Script) of(d Direction) (faults []Fault) {
	for _, f := range s.Faults {
		if f.Direction == d {
			faults = append(faults, f)
		}
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return int(a.At - b.At) })
	return faults
}
