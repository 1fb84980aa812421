package conformance_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/internal/testing/spectable/matrix"
)

// homes has the configuration of goroutine ranks for each home.
var homes = map[string]commtest.Config{"memory": {}, "nodes": {Nodes: commtest.Nodes{0, 0, 1, 1}}, "messages": {Messages: true}, "own": {}}

// runWindowCell runs one cell on goroutine ranks and returns their reports.
func runWindowCell(t testing.TB, x matrix.WindowCell) []matrix.Report {
	t.Helper()
	return report(t, homes[x.Home.Name], spectable.Ranks, x)
}

// TestSpecW2W3W5W8W10W11W13W14W16W17W18W19W20W23EveryCallInEveryState runs the table of windows,
// several cells at a time.
func TestSpecW2W3W5W8W10W11W13W14W16W17W18W19W20W23EveryCallInEveryState(t *testing.T) {
	cells := matrix.WindowCells()
	work := make(chan matrix.WindowCell)
	var mu sync.Mutex
	outcomes := map[spectable.Outcome]int{}
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for x := range work {
				reports := runWindowCell(t, x)
				assert.Empty(t, x.Wrong(reports), x.Name())
				assert.NotEmpty(t, reports, x.Name())
				mu.Lock()
				for _, r := range reports {
					outcomes[r.Outcome]++
				}
				mu.Unlock()
			}
		})
	}
	homes := len(matrix.WindowHomes())
	if testing.Short() {
		homes = 1
	}
	for i, x := range cells[:len(cells)/len(matrix.WindowHomes())*homes] {
		if (*onlyCells != "" || longtest.Row(i, 29)) && (*onlyCells == "" || strings.Contains(x.Name(), *onlyCells)) {
			work <- x
		}
	}
	close(work)
	wg.Wait()
	t.Logf("%d cells: %d calls in %d states in %d homes; outcomes: %v",
		len(cells), len(matrix.WindowCalls()), len(spectable.WindowStates()), homes, outcomes)
}

// TestWindowsAreJudged: a cell that is judged as a member of another class has complaints.
func TestWindowsAreJudged(t *testing.T) {
	for _, c := range []struct {
		call, state string
		as          spectable.WindowClass
		says        string // empty: no complaint
	}{
		{"Put", "target dead, known", spectable.Access, ""},
		{"Put", "target dead, known", spectable.Owning, "expected [ok]"},
		{"Put", "third dead, known", spectable.AllTargets, "expected [failed]"},
		{"FlushAll", "target's node gone", spectable.Access, "names ranks [1 3], expected [1]"},
		{"Lock, mend", "lock broken", spectable.Locking, "expected [failed]"},
		{"Lock, shared", "lock broken", spectable.Mending, "expected [ok]"},
		{"Load", "freed", spectable.Misusing, "expected [not held]"},
	} {
		x := findWindow(t, c.call, c.state)
		x.Call.Class = c.as
		wrong := strings.Join(x.Wrong(runWindowCell(t, x)), "; ")
		if c.says == "" {
			assert.Empty(t, wrong, x.Name())
		} else {
			assert.Contains(t, wrong, c.says, x.Name())
		}
	}
	x := findWindow(t, "Put", "target dead, known")
	x.Call.Op = "get"
	assert.Contains(t, strings.Join(x.Wrong(runWindowCell(t, x)), "; "), `operation is "put", expected "get"`)
	x = findWindow(t, "Store", "healthy")
	x.Call.Leaves = 8
	assert.Contains(t, strings.Join(x.Wrong(runWindowCell(t, x)), "; "), "the element is 9, expected 8")
	uneven := []matrix.Report{{Rank: 0, Outcome: spectable.OK}, {Rank: 2, Outcome: spectable.Failed}}
	assert.Len(t, findWindow(t, "Allocate", "target dead, known").Wrong(uneven), 1)
}

// findWindow returns a cell of windows in shared memory.
func findWindow(t *testing.T, call, state string) matrix.WindowCell {
	t.Helper()
	for _, x := range matrix.WindowCells() {
		if x.Name() == call+" / "+state+" / memory" {
			return x
		}
	}
	t.Fatalf("no cell %s / %s", call, state)
	return matrix.WindowCell{}
}
