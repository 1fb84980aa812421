package transporttest

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// A World is n processes connected by the transport under test.
type World interface {
	// Port returns the node and the link of a rank. The suite calls Port once for each rank that it
	// needs, from one goroutine at a time.
	Port(rank int) transport.End
	// Depart plays the launcher: it appends the rank to the list of departures, once, and then
	// moves the epoch and wakes all ranks.
	Depart(rank int, died bool)
}

// Run tests a transport against the whole contract. factory makes a world of n ranks that lives as
// long as the test t.
func Run(t *testing.T, factory func(t *testing.T, n int) World) {
	run(t, factory, func(testCase) bool { return true })
}

// RunLate runs the cases that also hold for a transport that delivers late, by a number of calls,
// as hook does under a plan with delays.
func RunLate(t *testing.T, factory func(t *testing.T, n int) World) {
	run(t, factory, func(c testCase) bool { return c.kind >= late })
}

// RunRough runs the cases of RunLate that send frames, for a transport whose connections break. The
// other cases do not depend on connections.
func RunRough(t *testing.T, factory func(t *testing.T, n int) World) {
	run(t, factory, func(c testCase) bool { return c.kind == rough })
}

type testCase struct {
	name string
	kind kind
	test func(t *testing.T, factory func(t *testing.T, n int) World)
}

// A kind is the class of transports for which a case holds.
type kind int

const (
	prompt kind = iota // a sent frame is there at once
	late               // also if frames arrive later
	rough              // also over connections that break
)

func run(t *testing.T, factory func(t *testing.T, n int) World, chosen func(testCase) bool) {
	for _, c := range []testCase{
		{"every length", prompt, testLengths},
		{"an address arrives", prompt, testAddress},
		{"order under a slow consumer", rough, testOrder},
		{"a ring for long payloads opens", prompt, testOpened},
		{"payload ring wraps around", rough, testWrap},
		{"no room loses nothing", prompt, testRefused},
		{"room wakes the sender", rough, testRoomWakes},
		{"a sweep is pending", prompt, testSweepIsPending},
		{"room that was read of is pending", late, testRoomRead},
		{"wanting room wakes the peer", prompt, testWantRoomWakes},
		{"control of any length", rough, testControlLengths},
		{"control is resumable", prompt, testControlResumes},
		{"control never behind data", prompt, testControlPassesData},
		{"who sent", prompt, testTake},
		{"seventy senders", rough, testManySenders},
		{"pending except", prompt, testPendingExcept},
		{"watch word", prompt, testWatch},
		{"watch word while sending", prompt, testWatchConcurrent},
		{"credit", prompt, testCredit},
		{"credit flows", prompt, testCreditFlows},
		{"departures", prompt, testDepartures},
		{"departure wakes", late, testDepartureWakes},
		{"leaving", prompt, testLeaving},
		{"two flags on one bell", late, testTwoFlags},
		{"timeout", late, testTimeout},
		{"notify all", late, testNotifyAll},
		{"token over 1 rank", rough, testToken(1)},
		{"token over 2 ranks", rough, testToken(2)},
		{"token over 8 ranks", rough, testToken(8)},
		{"all to all over 2 ranks", rough, testAllToAll(2)},
		{"all to all over 8 ranks", rough, testAllToAll(8)},
		{"close control", prompt, testCloseControl},
		{"close data", prompt, testCloseData},
		{"close before anything", prompt, testCloseFirst},
		{"no allocation", prompt, testAllocations},
	} {
		if chosen(c) {
			t.Run(c.name, func(t *testing.T) { c.test(t, factory) })
		}
	}
}

// patience is the time without progress after which a case counts as hung. It does not bound the
// duration of a case.
const patience = 90 * time.Second

// moves counts arrivals and turns, as a measure of progress. All parallel tests share the count: a
// hang is detected when the others have ended.
var moves atomic.Int64

// together runs the parts at the same time. It fails the test with the first error, or with all
// stacks when nothing has moved for the time patience. A panic ends the test as usual, with its
// trace.
func together(t *testing.T, parts ...func() error) {
	t.Helper()
	ends := make(chan error, len(parts))
	for _, part := range parts {
		go func() { ends <- part() }()
	}
	over, seen := time.NewTimer(patience), moves.Load()
	defer over.Stop()
	for left := len(parts); left > 0; {
		select {
		case err := <-ends:
			if err != nil {
				t.Fatal(err)
			}
			left--
		case <-over.C:
			if now := moves.Load(); now != seen {
				seen = now
				over.Reset(patience)
				continue
			}
			stacks := make([]byte, 1<<20)
			t.Fatalf("hung: a wake-up or a frame was lost\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}
