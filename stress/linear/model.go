package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// A kind is the kind of an operation.
type kind uint64

const (
	load  kind = iota + 1
	store      // A
	add        // A
	swap       // A
	cas        // A becomes B
	write      // under an exclusive lock: the pair becomes A, A
	read       // under a shared lock
	mend       // a write, under a lock that a dead process has held
)

func (k kind) String() string {
	return [...]string{"?", "load", "store", "add", "swap", "cas", "write", "read", "mend"}[min(k, mend+1)%9]
}

// A call is an operation as its caller knows it.
type call struct {
	Kind kind
	Cell uint64 // which element, or pair
	A, B uint64
}

// An answer is the result of an operation. If the operation did not end, or ended with an error,
// the result is unknown, and also whether the operation has happened.
type answer struct {
	known  bool
	X, Y   uint64 // the values before the operation; Y: the second one of a pair
	inPair bool
}

// model is elements and pairs, each independent of the others: a state is one value.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		at := map[uint64]int{}
		for _, op := range history {
			cell := op.Input.(call).Cell
			if _, ok := at[cell]; !ok {
				at[cell] = len(parts)
				parts = append(parts, nil)
			}
			parts[at[cell]] = append(parts[at[cell]], op)
		}
		return parts
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		now, c, a := state.(uint64), input.(call), output.(answer)
		return agrees(now, c, a), after(now, c)
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// agrees reports whether an answer is right if the value is now.
func agrees(now uint64, c call, a answer) bool {
	switch {
	case !a.known || c.Kind == store:
		return true
	case c.Kind == mend && a.X != a.Y:
		return true // half of the pair that the dead process was writing
	case a.inPair:
		return a.X == now && a.Y == now
	}
	return a.X == now
}

// after is the value after an operation.
func after(now uint64, c call) uint64 {
	switch c.Kind {
	case store, swap, write, mend:
		return c.A
	case add:
		return now + c.A
	case cas:
		if now == c.A {
			return c.B
		}
	}
	return now
}
