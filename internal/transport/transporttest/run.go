package transporttest

import (
	"runtime"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/transport"
)

// A World is n processes joined by the transport under test.
type World interface {
	// Port returns the end of a rank. The suite calls it once for each rank that
	// it needs, and not from several goroutines at a time.
	Port(rank int) transport.End
	// Depart plays the launcher: it enters the rank into the list of departures,
	// once, and then moves the epoch and wakes everybody.
	Depart(rank int, died bool)
}

// Run holds a transport to the whole contract. Factory makes a world of n ranks
// that lives as long as the test t.
func Run(t *testing.T, factory func(t *testing.T, n int) World) {
	run(t, factory, func(testCase) bool { return true })
}

// RunLate runs the cases that hold as well for a transport that delivers late,
// by the number of calls, as hook does when told so.
func RunLate(t *testing.T, factory func(t *testing.T, n int) World) {
	run(t, factory, func(c testCase) bool { return c.late })
}

type testCase struct {
	name string
	late bool // holds for late delivery, too
	test func(t *testing.T, factory func(t *testing.T, n int) World)
}

func run(t *testing.T, factory func(t *testing.T, n int) World, chosen func(testCase) bool) {
	for _, c := range []testCase{
		{"every length", false, testLengths},
		{"an address arrives", false, testAddress},
		{"order under a slow consumer", true, testOrder},
		{"a ring for long payloads opens", false, testOpened},
		{"payload ring wraps around", true, testWrap},
		{"no room loses nothing", false, testRefused},
		{"room wakes the sender", true, testRoomWakes},
		{"a sweep is pending", false, testSweepIsPending},
		{"wanting room wakes the peer", false, testWantRoomWakes},
		{"control of any length", true, testControlLengths},
		{"control is resumable", false, testControlResumes},
		{"control never behind data", false, testControlPassesData},
		{"who sent", false, testTake},
		{"seventy senders", true, testManySenders},
		{"pending except", false, testPendingExcept},
		{"watch word", false, testWatch},
		{"watch word while sending", false, testWatchConcurrent},
		{"credit", false, testCredit},
		{"credit flows", false, testCreditFlows},
		{"departures", false, testDepartures},
		{"departure wakes", true, testDepartureWakes},
		{"leaving", false, testLeaving},
		{"two flags on one bell", true, testTwoFlags},
		{"timeout", true, testTimeout},
		{"notify all", true, testNotifyAll},
		{"token over 1 rank", true, testToken(1)},
		{"token over 2 ranks", true, testToken(2)},
		{"token over 8 ranks", true, testToken(8)},
		{"all to all over 2 ranks", true, testAllToAll(2)},
		{"all to all over 8 ranks", true, testAllToAll(8)},
		{"close control", false, testCloseControl},
		{"close data", false, testCloseData},
		{"close before anything", false, testCloseFirst},
		{"no allocation", false, testAllocations},
	} {
		if chosen(c) {
			t.Run(c.name, func(t *testing.T) { c.test(t, factory) })
		}
	}
}

// patience is how long a case may take before it counts as hung. The longest took
// 3 s under the race detector on two busy cores.
const patience = 90 * time.Second

// together runs the parts at once and fails the test with the first error, with
// a panic's trace as usual, or with all stacks when patience is over.
func together(t *testing.T, parts ...func() error) {
	t.Helper()
	ends := make(chan error, len(parts))
	for _, part := range parts {
		go func() { ends <- part() }()
	}
	over := time.NewTimer(patience)
	defer over.Stop()
	for range parts {
		select {
		case err := <-ends:
			if err != nil {
				t.Fatal(err)
			}
		case <-over.C:
			stacks := make([]byte, 1<<20)
			t.Fatalf("hung: a wake-up or a frame was lost\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}
