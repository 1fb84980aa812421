package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/internal/testing/spectable/matrix"
)

var update = flag.Bool("update", false, "rewrite the tables of README.md")

// TestReadmeShowsTheMatrix compares the tables of README.md with the rules; -update writes them.
func TestReadmeShowsTheMatrix(t *testing.T) {
	const name, begin, end = "README.md", "<!-- matrix -->\n", "<!-- end of the matrix -->\n"
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	require.True(t, ok && closed, "%s has no place for the matrix", name)
	fresh := before + begin + matrices() + end + after
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(fresh), 0o644))
		return
	}
	assert.Equal(t, fresh, string(text), "run go test ./conformance -run Readme -update")
}

// A table is the part of the matrix that concerns one kind of calls. Calls of one class have equal
// results in every state.
type table struct {
	classes []string
	states  []string
	calls   [][]string // by class
	cells   []int      // by class
	// allowed returns the outcomes of a class in a state; nil: there is no cell.
	allowed func(class, state int) []spectable.Outcome
}

// matrices returns the generated part of README.md.
func matrices() string {
	calls, windows := callTable(), windowTable()
	var b strings.Builder
	fmt.Fprintf(&b, "The matrix has %s cells: %s of calls on communicators, and %s of calls on windows.\n\n",
		thousands(len(matrix.Cells())+len(matrix.WindowCells())), thousands(len(matrix.Cells())), thousands(len(matrix.WindowCells())))
	fmt.Fprintf(&b, "## Calls on communicators\n\n%d calls in %d classes, in %d states.\n\n", len(matrix.Calls()), len(calls.classes), len(calls.states))
	calls.write(&b)
	fmt.Fprintf(&b, "\n## Calls on windows\n\n%d calls in %d classes, in %d states and %d homes: shared memory, two nodes, messages, memory of the\nprogram.\n\n",
		len(matrix.WindowCalls()), len(windows.classes), len(windows.states), len(matrix.WindowHomes()))
	windows.write(&b)
	return b.String()
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }

// wide is the number of classes that one table shows.
const wide = 12

func (x *table) write(b *strings.Builder) {
	b.WriteString("| | class | calls | cells | for example |\n|---|---|--:|--:|---|\n")
	for i, name := range x.classes {
		fmt.Fprintf(b, "| %s | %s | %d | %d | %s |\n", letter(i), name, len(x.calls[i]), x.cells[i], strings.Join(x.calls[i][:min(2, len(x.calls[i]))], "; "))
	}
	for from := 0; from < len(x.classes); from += wide {
		to := min(from+wide, len(x.classes))
		b.WriteString("\n| state |")
		for i := from; i < to; i++ {
			b.WriteString(" " + letter(i) + " |")
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", to-from) + "\n")
		for s, state := range x.states {
			b.WriteString("| " + state + " |")
			for i := from; i < to; i++ {
				b.WriteString(" " + symbols(x.allowed(i, s)) + " |")
			}
			b.WriteString("\n")
		}
	}
}

func letter(i int) string { return string(rune('A' + i)) }

// symbols returns the symbols of outcomes, each once.
func symbols(outcomes []spectable.Outcome) string {
	symbol := map[spectable.Outcome]string{
		spectable.OK: "ok", spectable.Failed: "F", spectable.Pending: "P", spectable.Revoked: "R",
		spectable.Freed: "freed", spectable.NotHeld: "N", spectable.Unsupported: "U",
	}
	var all []string
	for _, o := range outcomes {
		if !slices.Contains(all, symbol[o]) {
			all = append(all, symbol[o])
		}
	}
	return strings.Join(all, " ")
}

func callTable() *table {
	x := &table{classes: []string{
		"sends that may end early", "sends that wait for their receive", "receives of one rank", "receives of any rank", "posted receives of any rank",
		"with no process", "with the process itself", "collectives that wait for all", "other collectives", "creations", "agreements", "agreement on failures",
		"shrink", "local calls", "finalize",
	}}
	x.calls, x.cells = make([][]string, len(x.classes)), make([]int, len(x.classes))
	for _, c := range matrix.Calls() {
		x.calls[c.Class] = append(x.calls[c.Class], c.Name)
	}
	for _, c := range matrix.Cells() {
		x.cells[c.Call.Class]++
	}
	states := spectable.States()
	for _, s := range states {
		x.states = append(x.states, s.Name)
	}
	x.allowed = func(class, state int) []spectable.Outcome {
		c, s := spectable.Class(class), states[state]
		if !spectable.Relevant(c, s) {
			return nil
		}
		return spectable.Expect(c, s).Outcomes
	}
	return x
}

func windowTable() *table {
	x := &table{classes: []string{
		"operations on a target", "flushes of all", "locks", "lock to mend", "unlock", "lock of all", "unlock of all", "waits for one", "waits for any",
		"own memory", "start of an epoch", "its end", "wait for its end", "test of its end", "fence", "creations", "rebuild", "questions to all",
		"reads of the target's memory", "views", "local calls", "revoke and free", "ends of nothing begun",
	}}
	x.calls, x.cells = make([][]string, len(x.classes)), make([]int, len(x.classes))
	for _, c := range matrix.WindowCalls() {
		x.calls[c.Class] = append(x.calls[c.Class], c.Name)
	}
	for _, c := range matrix.WindowCells() {
		x.cells[c.Call.Class]++
	}
	states := spectable.WindowStates()
	for _, s := range states {
		x.states = append(x.states, s.Name)
	}
	x.allowed = func(class, state int) []spectable.Outcome {
		c, s := spectable.WindowClass(class), states[state]
		if !spectable.WindowRelevant(c, s) {
			return nil
		}
		return slices.Concat(spectable.ExpectWindow(c, s, false).Outcomes, spectable.ExpectWindow(c, s, true).Outcomes)
	}
	return x
}
