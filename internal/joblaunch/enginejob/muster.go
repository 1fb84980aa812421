package enginejob

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// muster has the rules of a daemon about the ranks that have come. The first rank to come gives
// the number of ranks. Once all have come, each gets its place, and the world has started. Before
// that, one death or the timeout ends the start for all.
//
//	             came (all)
//	gathering ---------------> started    a later rank waits for the end of this daemon
//	    |
//	    | ended, time is up
//	    v
//	  failed                              a later rank is refused for the same reason
//
// On several nodes each node has such a daemon, and there is one more state: all ranks of the
// node have come, and its daemon meets the daemons of the others.
//
//	gathering -- came (all of the node) --> meeting -- met --> started
//
// A guest is a connection, by a number that the daemon gives it.
type muster struct {
	timeout time.Duration
	due     mono.Time // end of the start timeout
	node    string    // for users

	first claim // of the first rank to come; Size 0: none has come
	ranks []int // by rank: its guest, or nobody
	come  int
	late  int  // number of ranks that came after the start had failed
	told  bool // one rank was asked to report the reason

	mixed  string // the reason of a failure that waits for a rank: one of another build was there before
	state  state
	reason string // the reason of the failure

	out []action
}

const nobody = -1

type state int

// The states of a muster.
const (
	gathering state = iota
	isMeeting
	hasStarted
	hasFailed
)

// An event is an input of a muster.
type event interface{ event() }

// came: a guest has made a claim.
type came struct {
	guest int
	claim claim
}

// alien: a rank of another build has come, and was refused.
type alien struct{ rank int }

// ended: the process of a rank has ended.
type ended struct{ rank int }

// unable: this node cannot provide the resources of a world.
type unable struct{ why string }

// met: the daemons of all nodes are ready, and the ranks may continue.
type met struct{}

// tick: the time is now.
type tick struct{ now mono.Time }

func (came) event()   {}
func (alien) event()  {}
func (ended) event()  {}
func (unable) event() {}
func (met) event()    {}
func (tick) event()   {}

// An action is an order of a muster to its daemon. The daemon performs actions in order.
type action interface{ action() }

// prepare: the world has that many ranks. It comes first, and once.
type prepare struct{ size int }

// accept: a guest is that rank, is notified that it waits, and is watched from now on.
type accept struct{ guest, rank int }

// hold: the guest has come too late, and is asked to wait for the end of this daemon.
type hold struct{ guest int }

// refuse: the guest is not admitted.
type refuse struct {
	guest     int
	why       string
	elsewhere bool
}

// meetOthers: all ranks of this node have come; the daemon has to meet those of the others.
type meetOthers struct{}

// start: all have come, and get their places.
type start struct{}

// fail: no rank gets a place.
type fail struct{ why string }

func (prepare) action()    {}
func (accept) action()     {}
func (hold) action()       {}
func (refuse) action()     {}
func (meetOthers) action() {}
func (start) action()      {}
func (fail) action()       {}

// newMuster returns the rules of a daemon that begins now.
func newMuster(node string, now mono.Time, timeout time.Duration) *muster {
	return &muster{node: node, timeout: timeout, due: now.Add(mono.Duration(timeout))}
}

// Step applies an event and returns the actions. The slice is valid until the next Step.
func (m *muster) Step(ev event) []action {
	m.out = m.out[:0]
	switch ev := ev.(type) {
	case came:
		m.receive(ev.guest, ev.claim)
	case alien:
		m.refuseBuild(buildid.Another(fmt.Sprintf("rank %d", ev.rank)).Error())
	case ended:
		if m.isOpen() {
			m.ranks[ev.rank] = nobody // a dead rank cannot report the reason
			m.fail(fmt.Sprintf("rank %d ended before all had come", ev.rank))
		}
	case unable:
		if m.isOpen() {
			m.fail(ev.why)
		}
	case met:
		if m.state == isMeeting {
			m.state = hasStarted
			m.do(start{})
		}
	case tick:
		if m.isOpen() && ev.now >= m.due {
			m.fail(m.whoIsMissing())
		}
	}
	return m.out
}

// isOpen reports whether the start can still fail.
func (m *muster) isOpen() bool { return m.state == gathering || m.state == isMeeting }

// Deadline returns the time of the next tick, if there is one.
func (m *muster) Deadline() (mono.Time, bool) { return m.due, m.isOpen() }

func (m *muster) do(a action) { m.out = append(m.out, a) }

func (m *muster) receive(guest int, c claim) {
	if m.first.Size == 0 && m.state == gathering {
		m.first = c
		m.ranks = slices.Repeat([]int{nobody}, c.Size)
		m.do(prepare{c.Size})
	}
	switch {
	case m.state == hasFailed:
		m.late++
		m.refuse(guest)
	case c.Size != m.first.Size || c.Key != m.first.Key || (c.Several == nil) != (m.first.Several == nil):
		m.do(refuse{guest, fmt.Sprintf("rank %d is one of %d by its environment, rank %d was one of %d", c.Rank, c.Size, m.first.Rank, m.first.Size), false})
	case m.state == hasStarted:
		m.do(hold{guest})
	case m.ranks[c.Rank] != nobody:
		m.do(refuse{guest, fmt.Sprintf("rank %d is there already: this program has the environment of a rank and is another process; if it is to run for itself, set GOULFM_ALONE=1", c.Rank), false})
	default:
		m.takeIn(guest, c.Rank)
	}
}

// refuseBuild ends the start, because a rank of another build has come. The end waits for a rank
// of this build, for example the one that has started this daemon: its claim names the other
// nodes that have to learn the reason.
func (m *muster) refuseBuild(why string) {
	switch {
	case !m.isOpen():
	case m.first.Size == 0:
		m.mixed = cmp.Or(m.mixed, why)
	default:
		m.fail(why)
	}
}

func (m *muster) takeIn(guest, rank int) {
	m.ranks[rank] = guest
	m.do(accept{guest, rank})
	switch m.come++; {
	case m.mixed != "":
		m.fail(m.mixed)
	case m.come < m.wanted():
	case m.first.Several != nil:
		m.state, m.due = isMeeting, m.due.Add(coordinatorFirst)
		m.do(meetOthers{})
	default:
		m.state = hasStarted
		m.do(start{})
	}
}

// coordinatorFirst is the time by which the coordinator's timeout precedes that of the other
// daemons: the coordinator knows the missing nodes.
const coordinatorFirst = mono.Duration(3 * time.Second)

// wanted returns the number of ranks of this node.
func (m *muster) wanted() int {
	if m.first.Several != nil {
		return m.first.Several.Locals
	}
	return len(m.ranks)
}

// fail refuses all that have come, in the order of their ranks.
func (m *muster) fail(why string) {
	m.state, m.reason = hasFailed, why
	m.do(fail{why})
	for _, guest := range m.ranks {
		if guest != nobody {
			m.refuse(guest)
		}
	}
}

// refuse reports to a guest why the start has failed. The first guest prints the reason.
func (m *muster) refuse(guest int) {
	m.do(refuse{guest, m.reason, m.told})
	m.told = true
}

// allHeard reports whether each rank has come, or was refused because the start had failed
// before. A rank that comes after the daemon has ended would start another one, and wait a minute
// for the dead.
func (m *muster) allHeard() bool { return m.come+m.late >= m.wanted() }

// missingMax bounds the number of listed ranks.
const missingMax = 16

// listMissing lists the ranks that have not come.
func listMissing(by []int) string {
	var missing []string
	for rank, who := range by {
		if who == nobody {
			missing = append(missing, strconv.Itoa(rank))
		}
	}
	more := ""
	if n := len(missing) - missingMax; n > 0 {
		missing, more = missing[:missingMax], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(missing, ", ") + more
}

// whoIsMissing returns the reason why a world did not start in time.
func (m *muster) whoIsMissing() string {
	switch {
	case m.state == isMeeting:
		return fmt.Sprintf("after %s the ranks of %s have come, and the daemon of rank 0 has not answered", mono.Duration(m.timeout), m.node)
	case m.first.Several != nil:
		return fmt.Sprintf("%d of the %d ranks of %s after %s (%s gives them longer)", m.come, m.wanted(), m.node, mono.Duration(m.timeout), timeoutVariable)
	}
	return fmt.Sprintf("%d of %d ranks after %s; missing on %s: %s (%s gives them longer; a program that is to run for itself: GOULFM_ALONE=1)",
		m.come, len(m.ranks), mono.Duration(m.timeout), m.node, listMissing(m.ranks), timeoutVariable)
}
