package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var some = []Command{{Name: "mild", Does: "is mild"}, {Name: "wild", Job: true, Does: "is wild"}}

func TestChoose(t *testing.T) {
	const help = "Some do.\n\nusage: x COMMAND [flags]; COMMAND -h lists its flags\n\n" +
		"go run ./bench/x COMMAND:\n  mild       is mild\n\ngoulfm run -n RANKS ./bench/x COMMAND:\n  wild       is wild\n"
	for _, c := range []struct {
		args, name string
		code       int
		out, errs  string
	}{
		{"wild -h", "wild", 0, "", ""},
		{"mild", "mild", 0, "", ""},
		{"-h", "", 0, help, ""},
		{"help", "", 0, help, ""},
		{"", "", 2, "", help},
		{"-wild", "", 2, "", "x: no command \"-wild\"\n" + help},
	} {
		var out, errs strings.Builder
		got, code := choose("bench/x", "Some do.", some, strings.Fields(c.args), &out, &errs)
		name := ""
		if got != nil {
			name = got.Name
		}
		assert.Equal(t, c.name, name, c.args)
		assert.Equal(t, c.code, code, c.args)
		assert.Equal(t, c.out, out.String(), c.args)
		assert.Equal(t, c.errs, errs.String(), c.args)
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o600))
	for _, name := range []string{"mild", "wild"} {
		assert.NotEmpty(t, Folders(dir, some))
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	assert.Empty(t, Folders(dir, some))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "other"), 0o700))
	assert.NotEmpty(t, Folders(dir, some))
}
