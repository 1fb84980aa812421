package tidy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPagesNameWhatExists(t *testing.T) {
	tree, _ := repository(t)
	found, err := Names(tree)
	report(t, found, err)
}

func TestNamesOnFakePages(t *testing.T) {
	files := map[string]string{"comm/a.go": apiSource}
	for _, p := range namingPages {
		files[p] = "`comm.Send`, in `comm`\n"
	}
	tree, _ := fake(t, files)
	found, err := Names(tree)
	require.NoError(t, err)
	require.Empty(t, found)

	files[RulesPath] = "a line\n`comm.Pair`, `comm.Sent`, `collectives.Bcast`\n"
	tree, _ = fake(t, files)
	found, err = Names(tree)
	require.NoError(t, err)
	want(t, found, RulesPath+":2: comm.Sent does not exist", RulesPath+":2: collectives.Bcast does not exist")

	delete(files, "README.md")
	tree, _ = fake(t, files)
	_, err = Names(tree)
	require.Error(t, err)
}
