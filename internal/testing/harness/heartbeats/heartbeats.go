// Package heartbeats has the flags of the launcher by which jobs run with heartbeats of some
// period, for programs that measure what these cost: nobody is declared dead because it was late,
// and nothing else is different.
package heartbeats

import (
	"strconv"
	"time"
)

// Off is a period that no run lives to see: a job with a detector and without heartbeats.
const Off = time.Hour

// patience is the least time after which somebody silent is declared, or a node stands still
// because its lease is over: that would be no noise of heartbeats.
const patience = 2 * time.Second

// factor is how many periods somebody is waited for, at least so many.
func factor(period time.Duration, least int) int { return max(least, int(patience/period)) }

func flags(period time.Duration, factor int) []string {
	return []string{"--period", period.String(), "--timeout-factor", strconv.Itoa(factor)}
}

// BetweenNodes has the daemons of so many nodes of this machine, each for ppn ranks at most, send
// heartbeats to each other.
func BetweenNodes(nodes, ppn int, period time.Duration) []string {
	f := factor(period, 5)
	long := time.Duration(2*f) * period
	return append([]string{"--host", strconv.Itoa(nodes), "--ppn", strconv.Itoa(ppn), "--link-timeout", max(long, 10*time.Second).String(),
		"--orphan-after", max(long, 30*time.Second).String()}, flags(period, f)...)
}

// BetweenRanks has the ranks of one node send heartbeats to each other, in a ring. With Off there
// is no detector: the kernel tells of deaths.
func BetweenRanks(period time.Duration) []string {
	if period == Off {
		return nil
	}
	return append([]string{"--detector", "ring"}, flags(period, factor(period, 4))...)
}
