package job

import (
	"fmt"
	"slices"
	"strings"
)

// A Holding is a slot whose process has ended, and the processes that may still refer to it.
type Holding struct {
	Slot int   `json:"seat"`
	By   []int `json:"by,omitempty"` // slots, ascending
}

// Vacant returns the slots to which no process refers any more.
func Vacant(holdings []Holding) (slots []int) {
	for _, h := range holdings {
		if len(h.By) == 0 {
			slots = append(slots, h.Slot)
		}
	}
	return slots
}

// HeldBy returns the slots to which a process still refers.
func HeldBy(holdings []Holding, proc int) (slots []int) {
	for _, h := range holdings {
		if slices.Contains(h.By, proc) {
			slots = append(slots, h.Slot)
		}
	}
	return slots
}

// heldMax is the number of slots that DescribeHeld names.
const heldMax = 8

// DescribeHeld lists, as text, the slots of ended processes that are not vacant, and the processes
// that hold them.
func DescribeHeld(holdings []Holding) string {
	var held []string
	for _, h := range holdings {
		if len(h.By) > 0 {
			held = append(held, fmt.Sprintf("that of slot %d by %s", h.Slot, strings.Trim(strings.ReplaceAll(fmt.Sprint(h.By), " ", ","), "[]")))
		}
	}
	if len(held) > heldMax {
		held = append(held[:heldMax], fmt.Sprintf("and %d more", len(held)-heldMax))
	}
	return strings.Join(held, ", ")
}
