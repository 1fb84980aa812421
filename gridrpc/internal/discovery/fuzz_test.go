package discovery

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzPeers: a text is either refused, or is a list of peers that is written and read unchanged.
func FuzzPeers(f *testing.F) {
	f.Add("st1 127.0.0.1:1 127.0.0.1:2 h1\nst2 [::1]:1 h:2 h2\n")
	f.Add("st1 127.0.0.1:1 127.0.0.1:2\n")
	f.Add("st1 a b c\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parsePeers(text)
		if err != nil {
			return
		}
		dir := t.TempDir()
		require.NoError(t, SavePeers(dir, Council, list))
		again, err := Peers(dir, Council)
		require.NoError(t, err)
		assert.Equal(t, list, again)
	})
}
