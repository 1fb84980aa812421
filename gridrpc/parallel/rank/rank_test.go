package rank_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc/parallel/rank"
)

// Example shows the use of the call by ranks, here in a folder as a server makes it.
func Example() {
	dir, err := os.MkdirTemp("", "call")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv(rank.EnvArgument, filepath.Join(dir, "argument"))
	os.Setenv(rank.EnvResult, filepath.Join(dir, "result"))
	defer os.Unsetenv(rank.EnvArgument)
	defer os.Unsetenv(rank.EnvResult)
	err = os.WriteFile(filepath.Join(dir, "argument"), []byte(`{"n":7}`), 0o600)

	var in struct{ N int }
	if rank.Is() && err == nil {
		if err = rank.Argument(&in); err == nil {
			err = rank.Return(in.N * in.N)
		}
	}
	text, _ := os.ReadFile(filepath.Join(dir, "result"))
	fmt.Println(string(text), err)
	// Output: 49 <nil>
}

// TestMistakes: in a process that is no rank of a service the calls are errors.
func TestMistakes(t *testing.T) {
	assert.False(t, rank.Is())
	assert.Error(t, rank.Argument(new(int)))
	assert.ErrorContains(t, rank.Return(1), "no rank")
	assert.Error(t, rank.Progress(1, 2, ""))
	assert.Empty(t, rank.Files().Dir)
	path := filepath.Join(t.TempDir(), "argument")
	t.Setenv(rank.EnvArgument, path)
	require.NoError(t, os.WriteFile(path, []byte(`{"wrong":1}`), 0o600))
	assert.ErrorContains(t, rank.Argument(new(struct{ N int })), "wrong")
}
