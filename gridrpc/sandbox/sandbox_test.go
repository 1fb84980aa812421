package sandbox

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/server"
)

// TestComplete: without runsc the error names the program to install. An invalid program is an
// error before a call.
func TestComplete(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(EnvRunsc, "")
	self, err := os.Executable()
	require.NoError(t, err)
	_, err = Program{Args: []string{self}}.complete()
	require.ErrorIs(t, err, gridrpc.ErrUnsupported)
	assert.ErrorContains(t, err, "make runsc")
	p, err := Program{Args: []string{self}, Runsc: self}.complete()
	require.NoError(t, err)
	assert.Equal(t, everyDefault, p.Every)
	for _, args := range [][]string{nil, {"program"}, {filepath.Join(t.TempDir(), "none")}} {
		_, err = Program{Args: args, Runsc: self}.complete()
		assert.ErrorContains(t, err, "sandbox: ")
	}
	_, err = Program{Args: []string{self}, Read: []string{"lib"}, Runsc: self}.complete()
	assert.ErrorContains(t, err, "from the root")
}

// TestContainer: all folders of the machine are read-only in the container.
func TestContainer(t *testing.T) {
	c := containerOf(Program{Args: []string{"/opt/solver", "-x"}, Read: []string{"/usr", "/data"}})
	assert.True(t, c.Root.ReadOnly)
	var outside []string
	for _, m := range c.Mounts {
		if m.Type == "bind" {
			outside = append(outside, m.Destination)
			assert.Equal(t, m.Source, m.Destination)
			assert.Contains(t, m.Options, "ro")
		}
	}
	assert.Equal(t, []string{"/usr", "/data", "/opt/solver"}, outside)
	assert.Contains(t, c.Linux.Namespaces, namespace{"network"})
}

// TestProcessor: the names of features count, but not their order, nor other processors of the
// machine.
func TestProcessor(t *testing.T) {
	const one = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nflags\t\t: fpu vme avx2\n"
	first := parseProcessor(one + "\nvendor_id : other\n")
	assert.Contains(t, first, "/GenuineIntel/6/85 ")
	assert.Equal(t, first, parseProcessor("vendor_id: GenuineIntel\ncpu family: 6\nmodel: 85\nflags: avx2 vme fpu\n"))
	assert.NotEqual(t, first, parseProcessor("vendor_id: GenuineIntel\ncpu family: 6\nmodel: 85\nflags: vme fpu\n"))
	assert.NotEqual(t, first, parseProcessor(""))
}

// TestResume: an attempt continues from an image of the same processor, with the output up to the
// image. Otherwise it begins from the start.
func TestResume(t *testing.T) {
	var said strings.Builder
	b := &box{tool: tool{dir: t.TempDir()}, call: &server.Call{ID: "ab", Log: log.New(&said, "", 0)}, last: about{Number: 3, Output: 4, CPU: "one"}}
	require.NoError(t, os.WriteFile(b.path(outputFile), []byte("1\n2\n3\n"), 0o600))
	image, err := b.resume("one")
	require.NoError(t, err)
	assert.Equal(t, b.path("images/3"), image)
	out, err := os.ReadFile(b.path(outputFile))
	require.NoError(t, err)
	assert.Equal(t, "1\n2\n", string(out))
	assert.Empty(t, said.String())

	image, err = b.resume("another")
	require.NoError(t, err)
	assert.Empty(t, image)
	assert.Contains(t, said.String(), "begins from the start")
	require.NoError(t, b.prepare(Program{Args: []string{"/opt/solver"}}, image == "", "5"))
	out, err = os.ReadFile(b.path(outputFile))
	require.NoError(t, err)
	assert.Empty(t, out)
}

// TestTail: only the last bytes are kept.
func TestTail(t *testing.T) {
	var end tail
	for range 1000 {
		_, _ = end.Write([]byte("a line\n"))
	}
	_, _ = end.Write([]byte("the last"))
	assert.Len(t, end, tailMax)
	assert.Contains(t, string(end), "a line\nthe last")
}

// FuzzAbout: a text is either refused, or describes an image and is written as it was read.
func FuzzAbout(f *testing.F) {
	f.Add([]byte(`{"Number":1,"Output":5,"CPU":"x"}`))
	f.Add([]byte(`{"Number":0}`))
	f.Add([]byte(`{"Number":1} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := parseAbout(data)
		if err != nil {
			return
		}
		assert.Positive(t, a.Number)
		assert.GreaterOrEqual(t, a.Output, int64(0))
		again, err := json.Marshal(a)
		require.NoError(t, err)
		b, err := parseAbout(again)
		require.NoError(t, err)
		assert.Equal(t, a, b)
	})
}
