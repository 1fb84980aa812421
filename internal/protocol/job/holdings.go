package job

import (
	"fmt"
	"slices"
	"strings"
)

// A Holding is a seat whose process is gone, and which processes may still refer to it.
type Holding struct {
	Seat int   `json:"seat"`
	By   []int `json:"by,omitempty"` // seats, ascending
}

// Vacant returns the seats to which nobody refers any more.
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

// heldMax is how many seats DescribeHeld names.
const heldMax = 8

// DescribeHeld says for people which seats of the gone are not vacant, and whose processes hold
// them.
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
