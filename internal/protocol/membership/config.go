package membership

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// ErrConfig is wrapped by every error of Config.Check.
var ErrConfig = errors.New("roster configuration")

// Limits and defaults of a Config.
const (
	MembersMax = 1025 // the launcher and 1,024 nodes
	TimeoutMin = 10 * mono.Millisecond

	periodDefault = 100 * mono.Millisecond
	linkDefault   = 10 * mono.Second
	orphanDefault = 30 * mono.Second

	// Beyond manyNodes the one coordinator has too many beats to answer, and the Period grows.
	manyNodes     = 200
	periodPerNode = 500 * mono.Microsecond
)

// A Config describes one member's roster. Its zero Durations mean defaults. All members
// have the same, but for Me, Start, Absent and Late.
type Config struct {
	Members int // the launcher and the nodes, at least 1
	Me      int // this member; Launcher, or the number of the node plus 1

	// Absent are members that are not there yet: rows for nodes that may come. All present members
	// have the same set, except for members announced to them by Came. Absent requires a launcher
	// that is the coordinator for ever: with members that come later a majority is not defined.
	Absent rankset.Set
	// Late is true if this member was Absent for the others: its lease does not begin with its
	// start, but with the coordinator's first grant.
	Late bool

	// Racks are the racks of the members, numbers above 0; 0 is a member whose rack is not known,
	// which counts as a rack of its own. Members of one rack are not neighbours on the ring where
	// that is possible (ringOrder). Default nil: the ring has the order of the members' numbers.
	Racks []int

	// Survive lets a job outlive its launcher: a majority of the members may choose
	// another coordinator. Without it the launcher is the coordinator for ever.
	Survive bool

	// Period is the time between two beats to the coordinator, and between two heartbeats of the
	// ring (P). Default 100 ms, and half a millisecond more for each node beyond 200.
	Period mono.Duration
	// Timeout is how long a lease lasts, and how much silence makes a suspect (T). Default
	// 5 Periods: four beats in a row may be lost.
	Timeout mono.Duration
	// Confirm is the time a suspect has to answer the second check (C). Default half a
	// Timeout.
	Confirm mono.Duration
	// Adaptive, if not nil, sets the required quality of the ring's detection of silence, in place
	// of the three times above, which remain those of the lease (fd.Config.Adaptive). The ring's
	// timeout, nine tenths of Adaptive.Detection, is at least Timeout: nobody is suspected by the
	// ring before its lease is over, and the lease is over before anybody is declared.
	Adaptive *adaptive.QoS
	// Link is how long two living nodes may fail to reach each other, or a node the coordinator,
	// before one of them is declared. Default 10 s.
	Link mono.Duration
	// Orphan is how long a frozen node waits for a coordinator before it ends. Default 30 s.
	Orphan mono.Duration
	// Start is when the ring starts, the same moment at all members but for the precision
	// of the start: at most a Timeout apart.
	Start mono.Time
}

// Launcher is the member that started the job. Node n is member n+1. Where an engine has
// started the daemons and there is no launcher, the daemon of node 0 is this member, node n
// is member n, and Survive is set: with a daemon as coordinator for ever, its node could not be
// lost.
const Launcher = 0

// WithDefaults returns c with every Duration that is 0 replaced by its default.
func (c Config) WithDefaults() Config {
	if c.Period == 0 {
		c.Period = periodDefault + mono.Duration(max(0, c.Members-1-manyNodes))*periodPerNode
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * c.Period
	}
	if c.Confirm == 0 {
		c.Confirm = c.Timeout / 2
	}
	if c.Link == 0 {
		c.Link = linkDefault
	}
	if c.Orphan == 0 {
		c.Orphan = orphanDefault
	}
	return c
}

// Check returns the fault of c, after its defaults, or nil.
func (c Config) Check() error {
	c = c.WithDefaults()
	if c.Members > MembersMax {
		return fmt.Errorf("%w: %d members, want at most %d", ErrConfig, c.Members, MembersMax)
	}
	if c.Timeout < TimeoutMin {
		return fmt.Errorf("%w: timeout %v, want at least %v", ErrConfig, c.Timeout, TimeoutMin)
	}
	if c.Survive && c.Timeout < 4*c.Period {
		return fmt.Errorf("%w: timeout %v, want at least 4 periods of %v where the coordinator may change", ErrConfig, c.Timeout, c.Period)
	}
	if err := errors.Join(c.checkAbsent(), c.checkRacks()); err != nil {
		return err
	}
	if c.Link < c.Timeout || c.Orphan < c.Timeout {
		return fmt.Errorf("%w: link timeout %v and orphan time %v, want at least the timeout of %v", ErrConfig, c.Link, c.Orphan, c.Timeout)
	}
	if err := c.ring().Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if ring := c.ring().WithDefaults(); ring.Timeout < c.Timeout {
		return fmt.Errorf("%w: detection within %v, which suspects after %v, want at least the timeout of %v", ErrConfig, c.Adaptive.WithDefaults().Detection, ring.Timeout, c.Timeout)
	}
	return nil
}

func (c Config) checkAbsent() error {
	switch {
	case c.Absent.Has(Launcher) || c.Absent.Has(c.Me) || c.Absent.Next(c.Members) >= 0:
		return fmt.Errorf("%w: %v are not there yet, of %d members, and this one is %d", ErrConfig, c.Absent, c.Members, c.Me)
	case c.Survive && (c.Late || !c.Absent.IsEmpty()):
		return fmt.Errorf("%w: members that come later, where the coordinator may change", ErrConfig)
	}
	return nil
}

func (c Config) checkRacks() error {
	if c.Racks != nil && (len(c.Racks) != c.Members || slices.ContainsFunc(c.Racks, func(rack int) bool { return rack < 0 })) {
		return fmt.Errorf("%w: racks %v, want a number from 0 up for each of %d members", ErrConfig, c.Racks, c.Members)
	}
	return nil
}

// ring returns the configuration of the failure detector: it suspects, and declares only the
// members that the coordinator has declared (B22), so it does not fence.
func (c Config) ring() fd.Config {
	ring := fd.Config{
		N: c.Members, Me: c.Me, Mode: fd.Ring, Adaptive: c.Adaptive,
		Start: c.Start, AllowShortTimeouts: true,
	}
	if c.Adaptive == nil {
		ring.Period, ring.Timeout, ring.Confirm = c.Period, c.Timeout, c.Confirm
	}
	return ring
}

// fenceAfter is how long after the sending of a grant, by the coordinator's clock, the lease that
// it may have renewed is over by the clock of its holder, and its ranks are stopped. The
// lease began before, when the beat was sent; clocks may differ by one part in a thousand;
// the rest is the time in which a daemon notices and stops its ranks.
func (c Config) fenceAfter() mono.Duration {
	return c.Timeout + c.Timeout/1000 + max(c.Period/10, 2*mono.Millisecond)
}

// supportFor is the maximum age of the answer named last by a voter for the voter's support of a
// coordinator to count. With daemons that are late by L the age is up to 2·(Period + L). The limit
// therefore exceeds a Timeout; otherwise a coordinator with good links to all would freeze all of
// them now and then.
func (c Config) supportFor() mono.Duration { return c.Timeout + c.Confirm }

// actAfter is how long a new coordinator waits before it acts. The coordinator before it may act
// that long, by its own clock, after the last answer that a voter of its majority has named; and
// that voter named the answer before promising to the new coordinator.
func (c Config) actAfter() mono.Duration { return c.supportFor() + c.supportFor()/500 }

// coordinatorOf returns the possible coordinator of an epoch.
func (c Config) coordinatorOf(epoch uint32) int { return int(epoch % uint32(c.Members)) }
