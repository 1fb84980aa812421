package tidy

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "list all published names in the files of api, when a version is made")

// The gate: CHANGELOG.md lists each published name that is removed or has another shape.
func TestPublishedNamesStay(t *testing.T) {
	tree, _ := repository(t)
	found, err := API(tree)
	report(t, found, err)
	for _, dir := range published {
		require.NotEmpty(t, tree.exported(dir), "%s exports nothing: is it still published?", dir)
		if *update && !t.Failed() {
			require.NoError(t, os.WriteFile(filepath.Join("../../..", APIPath(dir)), []byte(APIText(tree, dir)), 0o666))
		}
		require.FileExists(t, filepath.Join("../../..", APIPath(dir)))
	}
}

const apiSource = `// Package comm is fake.
package comm

import "context"

const Any, hidden = -1, 2

var ErrRank error

type Elem interface {
	~int | ~bool
}

type Pair[T Elem] struct {
	A, B T
	c    int
}

type Alias = Pair[int]

type secret struct{ Open int }

func (secret) Method() {}

func (p *Pair[T]) Swap(how func(a, b int)) (err error) { return nil }

func Send[T Elem](ctx context.Context, to, tag int, buf []T) error { return nil }
`

const apiListed = "comm.Alias: type T = Pair[int]\n" +
	"comm.Any: const = -1\n" +
	"comm.Elem: type T interface{ ~int | ~bool }\n" +
	"comm.ErrRank: var error\n" +
	"comm.Pair: type T[T Elem] struct\n" +
	"comm.Pair.A: field T\n" +
	"comm.Pair.B: field T\n" +
	"comm.Pair.Swap: func (*Pair[T]) Swap(func(a, b int)) error\n" +
	"comm.Send: func Send[T Elem](context.Context, int, int, []T) error\n"

func TestAPIText(t *testing.T) {
	tree, _ := fake(t, map[string]string{"comm/a.go": apiSource})
	require.Equal(t, apiListed, APIText(tree, "comm"))
}

func TestAPIOnFakeTrees(t *testing.T) {
	const old = "comm.Recv: func Recv(int) error\n"
	for _, c := range []struct {
		name, listed, changelog string
		found                   bool
	}{
		{"the same", apiListed, "# Changes\n", false},
		{"something new", "comm.Any: const = -1\n", "# Changes\n", false},
		{"nothing listed", "", "# Changes\n", false},
		{"gone", apiListed + old, "# Changes\n", true},
		{"gone, and told", apiListed + old, "# Changes\n\n## Next\n\n* `comm.Recv` is gone: use Mprobe.\n", false},
		{"gone, and its package told", apiListed + old, "# Changes\n\n## Next\n\n* `comm.*` moves.\n", false},
		{"told of an older version", apiListed + old, "# Changes\n\n## Next\n\n## v0.1\n\n* `comm.Recv` is gone.\n", true},
		{"told of one with a longer name", apiListed + old, "## Next\n\n* `comm.RecvValue` is gone.\n", true},
		{"another shape", "comm.Any: const = -7\n", "# Changes\n", true},
		{"gone with its type, which is told", apiListed + "comm.Old.Wait: func (*Old) Wait()\n", "## Next\n\n* `comm.Old` is gone.\n", false},
		{"gone from its type, which is told of", apiListed + "comm.Pair.Wait: func (*Pair) Wait()\n", "## Next\n\n* `comm.Pair` is new.\n", true},
		{"one parameter more", "comm.Send: func Send[T Elem](context.Context, int, []T) error\n", "# Changes\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _ := fake(t, map[string]string{"comm/a.go": apiSource, ChangelogPath: c.changelog, APIPath("comm"): c.listed})
			found, err := API(tree)
			require.NoError(t, err)
			if !c.found {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Contains(t, found[0].String(), "api/comm.txt: gone or changed")
		})
	}
	tree, _ := fake(t, nil)
	_, err := API(tree)
	require.Error(t, err, "a missing changelog")
}
