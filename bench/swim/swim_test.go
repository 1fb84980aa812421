package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary a member or a rank, like the program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == beMember || os.Args[1] == beRank) {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestARun of each side and each fault: all others know, after the fault and not before.
func TestARun(t *testing.T) {
	p := plan{period: 200 * time.Millisecond, swim: "local", limit: time.Minute} // a timeout of a second: nobody is to be lost before the fault
	goulfm, remove, err := p.command(t.Context())
	require.NoError(t, err)
	defer remove()
	for _, s := range []side{swim{p}, ours{p, goulfm}} {
		for _, fault := range []string{faultKill, faultStop} {
			r, err := runOnce(t.Context(), p, s, 3, fault, 1)
			require.NoError(t, err, "%s, %s", s.name(), fault)
			assert.Positive(t, r.first)
			assert.GreaterOrEqual(t, r.last, r.first)
		}
	}
}

// TestTable: a row for each size and fault, with the median and the worst of each side.
func TestTable(t *testing.T) {
	var results []result
	for run, ms := range []time.Duration{30, 10, 20, 80} {
		results = append(results, result{side: "swim", n: 4, fault: faultKill, run: run, last: 10 * ms * time.Millisecond},
			result{side: "goulfm", n: 4, fault: faultKill, run: run, last: ms * time.Millisecond})
	}
	rows := strings.Split(table(results, 100*time.Millisecond), "\n")
	require.Len(t, rows, 4)
	assert.Equal(t, "| 4 | kill | 250.0 | 800.0 | 25.0 | 80.0 | 2.5, 0.2 | 10.0 |", rows[2])
}

// TestFlags: wrong sizes, faults and settings are refused.
func TestFlags(t *testing.T) {
	for _, args := range []string{"-n 2", "-n x", "-faults burn", "-swim wan", "-runs 0", "-period 1ms"} {
		var p plan
		assert.Error(t, p.parse(strings.Fields(args)), args)
	}
	var p plan
	require.NoError(t, p.parse(strings.Fields("-n 4,8 -faults stop")))
	assert.Equal(t, []int{4, 8}, p.sizes)
	assert.Equal(t, []string{faultStop}, p.faults)
}
