package main

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/testing/harness/plan"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// rowsOf are the rows of a task of the suite.
func rowsOf(t *testing.T, x task) (ks []key) {
	list := "8"
	switch {
	case len(x.args) > 2 && x.args[2] == "-sizes":
		list = x.args[3]
	case oneSidedBounds[oneSidedRow{x.verb, 0}] != 0:
		list = "0"
	}
	sizes, err := plan.Sizes(list)
	assert.NoError(t, err)
	for _, s := range sizes {
		ks = append(ks, key{oneSidedPrefix + x.verb, 2, s})
	}
	return ks
}

// TestOneSidedTasks: for any numbers of ranks there is one task of two ranks for each operation,
// and exactly one task measures the row of each target.
func TestOneSidedTasks(t *testing.T) {
	ts := tasks(options{only: []string{oneSided}, counts: []int{8, 64}, quick: true})
	assert.Len(t, ts, len(oneSidedOps))
	assert.Equal(t, "rma put", ts[0].String())
	assert.Equal(t, strings.Fields("-ops put -sizes 8,1K,4K,64K,1M,4M -json -batches 3 -time 40ms"), ts[0].args)
	missing, by := maps.Clone(oneSidedBounds), map[key]string{}
	for _, x := range ts {
		assert.Equal(t, 2, x.n)
		assert.Equal(t, "rma", x.program())
		for _, k := range rowsOf(t, x) {
			delete(missing, oneSidedRow{x.verb, k.size})
			assert.Empty(t, by[k], k)
			by[k] = x.verb
		}
	}
	assert.Empty(t, missing, "targets of rows that nobody measures")
}

// TestOnlyPeersWithOpenSHMEMHaveItsRows: the others do the rest of the suite.
func TestOnlyPeersWithOpenSHMEMHaveItsRows(t *testing.T) {
	put, inc := task{suite: oneSided, n: 2, verb: "put"}, task{suite: oneSided, n: 2, verb: "shmem_inc"}
	assert.Equal(t, "rma", put.peerProgram())
	assert.Equal(t, "shmem", inc.peerProgram())
	assert.True(t, spec{}.takesPart(put))
	assert.False(t, spec{}.takesPart(inc))
	assert.True(t, spec{Shmem: "oshcc {src} {out}"}.takesPart(inc))
}

// TestBothProgramsHaveEveryOperation: ours and the peers' in C.
func TestBothProgramsHaveEveryOperation(t *testing.T) {
	for _, x := range oneSidedTasks(nil) {
		for _, file := range []string{"../measure/rma/command.go", "../peers/" + x.peerProgram() + ".c"} {
			source, err := os.ReadFile(file)
			assert.NoError(t, err)
			assert.Contains(t, string(source), `"`+x.verb+`"`, file)
		}
	}
}

// TestOneSidedTargets: are about the best peer; a row with the name of another suite's operation is
// not of that suite.
func TestOneSidedTargets(t *testing.T) {
	for k, want := range map[key]float64{
		{"rma_put", 2, 8}: 0.6, {"rma_put", 2, 4 << 20}: 1.1, {"rma_get", 2, 8}: 0.4, {"rma_bulk", 2, 64 << 10}: 1,
		{"rma_lock", 2, 0}: 0.4, {"rma_post", 2, 0}: 0.8, {"rma_busy", 2, 8}: 1, {"rma_own_get", 2, 8}: 0.6,
	} {
		got, ok := targetOf(k)
		assert.True(t, ok, k)
		assert.Equal(t, target{best, "<=", want}, got, k)
		assert.Equal(t, oneSided, suiteOf(k.bench))
	}
	for _, k := range []key{{"rma_accumulate", 2, 1 << 10}, {"rma_own_put", 2, 8}, {"rma_load", 2, 8}, {"put", 2, 8}} {
		_, ok := targetOf(k)
		assert.False(t, ok, k)
	}
}

// TestOneSidedRecords have the suite's names, and no row over all sizes.
func TestOneSidedRecords(t *testing.T) {
	x := task{suite: oneSided, n: 2, verb: "put"}
	rs := named(x, []record.Record{{Bench: "put", N: 2, Size: 8, Unit: record.Micros, Batches: []float64{1}}})
	m := newMeasured(x)
	m.contenders = []*contender{{name: oursName}}
	m.add(oursName, rs)
	rows := m.rows("today")
	assert.Len(t, rows, 1)
	assert.Equal(t, key{"rma_put", 2, 8}, rows[0].key())
}

// TestWrongResultsCountForNothing: after one wrong result of a peer, even in one round, the row has
// no figure of this peer, and the target compares with the others. The peer's other rows stay.
func TestWrongResultsCountForNothing(t *testing.T) {
	at := func(size, us, wrong string) string {
		return strings.Replace(strings.Replace(line("bulk", "us", us), `"size":8`, `"size":`+size, 1), "]}", "]"+wrong+"}", 1)
	}
	wrong := `,"wrong":"element 3 is 1, not 2"`
	right := at("1024", "4", "") + ";" + at("65536", "4", "")
	d := newDriver(2,
		fake(t, oursName, false, right, right),
		fake(t, "a", true, at("1024", "1", "")+";"+at("65536", "1", ""), at("1024", "1", wrong)+";"+at("65536", "1", "")),
		fake(t, "b", false, at("1024", "8", "")+";"+at("65536", "8", ""), at("1024", "8", "")+";"+at("65536", "8", "")))
	m, err := d.measure(t.Context(), task{suite: oneSided, n: 2, verb: "bulk"})
	assert.NoError(t, err)
	assert.Equal(t, []string{"a in row rma_bulk, 2 ranks, 1 KiB: the result is wrong"}, d.notes)
	rows := m.rows("today")
	assert.Len(t, rows, 2)
	assert.NotContains(t, rows[0].Peers, "a")
	assert.InDelta(t, 0.5, rows[0].Target.Value, 1e-9)
	assert.True(t, rows[0].Target.Met)
	assert.InDelta(t, 4, rows[1].Peers["a"].Ratio, 1e-9)
	assert.InDelta(t, 4, rows[1].Target.Value, 1e-9)
}
