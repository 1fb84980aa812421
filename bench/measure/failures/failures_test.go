package failures

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-n 4 -deaths 1,3 -turns 2": true, "-n 1": false, "-n 4 -deaths 4": false, "-deaths 0": false, "-deaths x": false,
		"-turns 0": false, "-calls 0": false, "-limit 0s": false, "more": false,
	})
}

// TestMedians: the file has the median over the turns for each phase and number of deaths.
func TestMedians(t *testing.T) {
	o := options{n: 4, turns: 3, deaths: []int{1, 2}, csv: filepath.Join(t.TempDir(), "out.csv")}
	medians, err := o.measure(t.Context(), func(_ context.Context, deaths, turn int) (all []record.Record, err error) {
		for i, c := range curves {
			all = append(all, record.Record{Bench: c.phase, Batches: []float64{float64(1000*i + 100*deaths + 10*turn)}})
		}
		return all, nil
	})
	require.NoError(t, err)
	require.NoError(t, o.write(medians))
	text, err := os.ReadFile(o.csv)
	require.NoError(t, err)
	assert.Contains(t, string(text), "curve,failures,us\n\"measured, without failures, 4 ranks\",1,110.0\n\"measured, without failures, 4 ranks\",2,210.0\n")
	assert.Contains(t, string(text), "\"measured, later, 4 ranks\",2,3210.0\n")
	var out strings.Builder
	o.print(&out, "0.10", medians)
	assert.Contains(t, out.String(), "load average 0.10")
	assert.Contains(t, out.String(), "1110.0    1210.0")

	_, err = o.measure(t.Context(), func(context.Context, int, int) ([]record.Record, error) { return nil, nil })
	assert.ErrorContains(t, err, "1 deaths, turn 1: 0 records, want 4")
}
