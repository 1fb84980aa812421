package remotedaemon

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// self is the program of this test, as a launcher describes it.
func self(t *testing.T) ([]byte, daemonproto.Program) {
	path, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(text)
	return text, daemonproto.Program{Path: path, Bytes: int64(len(text)), Sum: sum[:]}
}

// TestAProgramComesInParts, and is executed from memory.
func TestAProgramComesInParts(t *testing.T) {
	text, want := self(t)
	want.Path = "/proc/1/fd/3"
	p, err := newProgram(want)
	require.NoError(t, err)
	assert.True(t, p.lacks())
	for len(text) > 0 {
		n := min(len(text), 1<<20)
		require.NoError(t, p.add(text[:n]))
		text = text[n:]
	}
	assert.False(t, p.lacks())
	assert.Error(t, p.add([]byte{1}), "nobody waits for more")
	assert.Equal(t, "/other", p.path("/other"))
	out, err := exec.Command(p.path(want.Path), "-test.run", "^$").CombinedOutput()
	assert.NoError(t, err, string(out))
}

// TestAProgramThatIsHere is the same file; another one of that name is not.
func TestAProgramThatIsHere(t *testing.T) {
	text, want := self(t)
	p, err := newProgram(want)
	require.NoError(t, err)
	assert.False(t, p.lacks())
	assert.Equal(t, want.Path, p.path(want.Path))

	other := filepath.Join(t.TempDir(), "program")
	changed := bytes.Clone(text)
	changed[len(text)-1] ^= 1
	for name, content := range map[string][]byte{"changed": changed, "shorter": text[1:]} {
		require.NoError(t, os.WriteFile(other, content, 0o700))
		p, err := newProgram(daemonproto.Program{Path: other, Bytes: want.Bytes, Sum: want.Sum})
		require.NoError(t, err)
		assert.True(t, p.lacks(), name)
	}
	require.NoError(t, os.WriteFile(other, text, 0o700))
	assert.True(t, isHere(daemonproto.Program{Path: other, Bytes: want.Bytes, Sum: want.Sum}))
	require.NoError(t, os.Chmod(other, 0o600))
	assert.False(t, isHere(daemonproto.Program{Path: other, Bytes: want.Bytes, Sum: want.Sum}))
}

// TestAProgramThatIsNone is refused.
func TestAProgramThatIsNone(t *testing.T) {
	for _, bytes := range []int64{-1, 0, programMax + 1} {
		_, err := newProgram(daemonproto.Program{Path: "/x", Bytes: bytes})
		assert.Error(t, err)
	}
	p, err := newProgram(daemonproto.Program{Path: "/no/such", Bytes: 4, Sum: make([]byte, 32)})
	require.NoError(t, err)
	assert.ErrorContains(t, p.add([]byte{1, 2, 3, 4, 5}), "nobody waits")
	assert.ErrorContains(t, p.add([]byte{1, 2, 3, 4}), "is not that of the launcher")
	var none *program
	assert.Error(t, none.add([]byte{1}))
	assert.Equal(t, "/x", none.path("/x"))
}
