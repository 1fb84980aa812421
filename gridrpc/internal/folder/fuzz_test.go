package folder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzReplicas: any text is refused, or is replicas that are written and read as they are.
func FuzzReplicas(f *testing.F) {
	f.Add("st1 127.0.0.1:1 127.0.0.1:2\nst2 [::1]:1 h:2\n")
	f.Add("st1 a b\n")
	f.Add("\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseReplicas(text)
		if err != nil {
			return
		}
		dir := t.TempDir()
		require.NoError(t, SaveReplicas(dir, list))
		again, err := Replicas(dir)
		require.NoError(t, err)
		assert.Equal(t, list, again)
	})
}
