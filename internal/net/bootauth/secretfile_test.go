package bootauth

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadSecretFile(t *testing.T) {
	const hex = "0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string // or
		why  string
	}{
		"usual":               {hex + "\n", 0o600, hex, ""},
		"for the group":       {hex, 0o640, hex, ""},
		"the shortest":        {" \t0123456789abcdef\r\n", 0o400, "0123456789abcdef", ""},
		"a space in it":       {"0123456789 abcdef", 0o400, "0123456789 abcdef", ""},
		"too short":           {"0123456789abcde\n\n\n\n", 0o600, "", "15 bytes are too few: write at least 16 random ones"},
		"empty":               {"", 0o600, "", "0 bytes are too few"},
		"all may read it":     {hex, 0o644, "", "everybody may read or write it (mode 0644), so it is no secret: chmod 600 it"},
		"all may write it":    {hex, 0o602, "", "everybody may read or write it"},
		"larger than secrets": {strings.Repeat("x", secretFileMax+1), 0o600, "", "more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			require.NoError(t, os.Chmod(path, c.mode)) // independent of the umask
			got, err := ReadSecretFile(path)
			if c.why == "" {
				require.NoError(t, err)
				assert.Equal(t, c.want, string(got))
				return
			}
			assert.ErrorContains(t, err, c.why)
			assert.ErrorContains(t, err, path)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestReadSecretFileThatIsNone(t *testing.T) {
	_, err := ReadSecretFile(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "copy it to each")
	_, err = ReadSecretFile(t.TempDir())
	assert.ErrorContains(t, err, "not a regular file")
}
