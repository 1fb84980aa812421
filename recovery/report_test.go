package recovery

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
)

// TestReportTravels: a report is read as written, and all shorter or longer messages are an error.
func TestReportTravels(t *testing.T) {
	full := report{Kept: true, Job: "A", Report: repair.Report{
		Node: 3, Home: 70_000, Epoch: 9, Committed: repair.Label{Epoch: 8, Number: 1 << 40}, Known: true, Members: 1 << 63,
		Held: []repair.Held{
			{Label: repair.Label{Epoch: 8, Number: 7}, Nodes: []int{0, 0, 3}, Data: rankset.Of(0, 2), Parity: rankset.Of(1)},
			{Label: repair.Label{Epoch: 9, Number: 1}, Nodes: []int{1}, Data: rankset.Of(200)},
		},
		Own:   []repair.Own{{Home: 2, Count: 300}},
		Files: []repair.Label{{Epoch: 1, Number: 2}, {Epoch: 3, Number: 4}}, Bad: []repair.Label{{Epoch: 5, Number: 6}},
	}}
	for _, r := range []report{{}, full} {
		text := r.append(nil)
		got, err := readReport(text)
		require.NoError(t, err)
		assert.Equal(t, text, got.append(nil))
		for n := range text {
			_, err := readReport(text[:n])
			require.ErrorIs(t, err, wire.ErrMalformed, "%d of %d bytes", n, len(text))
		}
		_, err = readReport(append(text, 0))
		require.ErrorIs(t, err, wire.ErrMalformed)
	}
	got, err := readReport(full.append(nil))
	require.NoError(t, err)
	assert.Equal(t, full.Committed, got.Committed)
	assert.Equal(t, full.Held[0].Nodes, got.Held[0].Nodes)
	assert.True(t, got.Held[1].Data.Equal(full.Held[1].Data))
	assert.Equal(t, full.Own, got.Own)
	assert.Equal(t, full.Bad, got.Bad)
	assert.Equal(t, full.Job, got.Job)
}

// TestExchangeOfAnyLength: texts that fill a frame, that are longer by a byte, and empty texts
// arrive at all ranks.
func TestExchangeOfAnyLength(t *testing.T) {
	for _, lengths := range [][]int{{0, 1, frameBytes - 4}, {0, frameBytes - 3, 5000}} {
		commtest.Run(t, len(lengths), func(ctx context.Context, w *comm.Comm) {
			mine := bytes.Repeat([]byte{byte(w.Rank() + 1)}, lengths[w.Rank()])
			all, err := exchangeTexts(w, mine)
			assert.NoError(t, err)
			for rank, text := range all {
				assert.Equal(t, bytes.Repeat([]byte{byte(rank + 1)}, lengths[rank]), text, "of rank %d", rank)
			}
		})
	}
}
