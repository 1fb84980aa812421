package tidy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDrawing(t *testing.T) {
	tree, _ := repository(t)
	if *update {
		file := filepath.Join("../../..", TablePath)
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		text, err := withDrawing(tree, string(page))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		t.Skip("rewritten")
	}
	found, err := Drawing(tree)
	report(t, found, err)
}

// TestDrawingOnFakeTrees: implied arrows are left out, and an arrow to a higher layer is a finding.
func TestDrawingOnFakeTrees(t *testing.T) {
	files := map[string]string{
		"internal/base/set/a.go":       importing("set"),
		"internal/protocol/match/a.go": importing("match", "internal/base/set"),
		"internal/shm/node/a.go":       importing("node", "internal/base/set", "internal/protocol/match"),
		"internal/engine/a.go":         importing("engine", "internal/shm/node"),
	}
	const chart = "```mermaid\nflowchart TD\n" +
		"  internal_engine[internal/engine]\n  internal_engine --> internal_shm\n" +
		"  internal_shm[internal/shm]\n  internal_shm --> internal_protocol\n" +
		"  internal_protocol[internal/protocol]\n  internal_protocol --> internal_base\n" +
		"  internal_base[internal/base]\n```\n"
	tree, _ := fake(t, files)
	got, found := drawing(tree)
	require.Equal(t, chart, got)
	require.Empty(t, found)
	files["internal/base/set/b.go"] = importing("set", "internal/engine")
	tree, _ = fake(t, files)
	_, found = drawing(tree)
	require.Len(t, found, 1)
	require.Contains(t, found[0].String(), "internal/engine is in a higher layer than internal/base")
}
