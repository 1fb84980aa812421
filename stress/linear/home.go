package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// A home is the place of the window's memory, which decides the path of operations.
type home string

const (
	inMemory   home = "memory"   // all share it: copies and instructions
	onNodes    home = "nodes"    // half of the processes are on another node: frames, and instructions on the same elements
	byMessages home = "messages" // --fence: frames alone
	ownMemory  home = "own"      // the program's (rma.Create): frames, and instructions of the owner
)

var homes = []home{inMemory, onNodes, byMessages, ownMemory}

// Set implements flag.Value, as String does.
func (h *home) Set(s string) error {
	for _, known := range homes {
		if s == string(known) {
			*h = known
			return nil
		}
	}
	return fmt.Errorf("want one of %v", homes)
}

func (h *home) String() string { return string(*h) }

// launch are the flags of the launcher for a home, with n processes.
func (h home) launch(n int) []string {
	switch h {
	case onNodes:
		return []string{"--host", "2", "--ppn", strconv.Itoa((n + 1) / 2), "--timeout-factor", "50"} // a slow node must not count as lost either
	case byMessages:
		return strings.Fields("--fence --suspect-after 10s") // a slow process must not count as dead
	}
	return nil
}

// window makes the window of a history.
func (h home) window(ctx context.Context, c *comm.Comm, n int) (*rma.Win[uint64], error) {
	if h == ownMemory {
		return rma.Create(ctx, c, make([]uint64, n))
	}
	return rma.Allocate[uint64](ctx, c, n)
}
