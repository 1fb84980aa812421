package job

import (
	"fmt"
	"slices"
	"strings"
)

// A Holding is a seat whose process has ended, and the processes that may still refer to it.
type Holding struct {
	Seat int   `json:"seat"`
	By   []int `json:"by,omitempty"` // seats, ascending
}

// Vacant returns the seats to which no process refers any more.
func Vacant(holdings []Holding) (seats []int) {
	for _, h := range holdings {
		if len(h.By) == 0 {
			seats = append(seats, h.Seat)
		}
	}
	return seats
}

// HeldBy returns the seats to which a process still refers.
func HeldBy(holdings []Holding, proc int) (seats []int) {
	for _, h := range holdings {
		if slices.Contains(h.By, proc) {
			seats = append(seats, h.Seat)
		}
	}
	return seats
}

// heldMax is the number of seats that DescribeHeld names.
const heldMax = 8

// DescribeHeld lists, as text, the seats of ended processes that are not vacant, and the processes
// that hold them.
func DescribeHeld(holdings []Holding) string {
	var held []string
	for _, h := range holdings {
		if len(h.By) > 0 {
			held = append(held, fmt.Sprintf("that of seat %d by %s", h.Seat, strings.Trim(strings.ReplaceAll(fmt.Sprint(h.By), " ", ","), "[]")))
		}
	}
	if len(held) > heldMax {
		held = append(held[:heldMax], fmt.Sprintf("and %d more", len(held)-heldMax))
	}
	return strings.Join(held, ", ")
}
