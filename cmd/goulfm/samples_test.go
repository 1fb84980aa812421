package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSampleHostFile: the sample host file has the hosts that its comments describe.
func TestSampleHostFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "engines", "hostfile"))
	require.NoError(t, err)
	all, err := hostlist.ParseFile(string(text))
	require.NoError(t, err)
	var names []string
	for _, h := range all.Hosts {
		names = append(names, h.Name)
	}
	assert.Equal(t, []string{"n1", "n2", "n3", "n4", "n5", "n6", "n010", "n7"}, names)
	assert.Equal(t, "user", all.Hosts[7].User)
}
