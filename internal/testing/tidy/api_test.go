package tidy

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the files that tests compare with the sources")

// The gate: CHANGELOG.md lists each published name that is added, is removed or has another shape.
func TestPublishedNamesStay(t *testing.T) {
	tree, _ := repository(t)
	found, err := API(tree)
	report(t, found, err)
	for _, dir := range published {
		require.NotEmpty(t, tree.exported(dir), "%s exports nothing: is it still published?", dir)
		require.FileExists(t, filepath.Join("../../..", APIPath(dir)))
	}
}

const apiSource = `// Package comm is fake.
package comm

import "context"

const Any, hidden = -1, 2

var ErrRank error

type Elem interface {
	// A comment is not a part of the type.
	~int | ~bool // nor is this one
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
		{"something new", strings.ReplaceAll(apiListed, "comm.Any: const = -1\n", ""), "# Changes\n", true},
		{"something new, and told", strings.ReplaceAll(apiListed, "comm.Any: const = -1\n", ""), "## Next\n\n* New: `comm.Any`.\n", false},
		{"a new field", strings.ReplaceAll(apiListed, "comm.Pair.A: field T\n", ""), "## Next\n\n* `comm.Pair` has one more.\n", true},
		{"a new field, and told", strings.ReplaceAll(apiListed, "comm.Pair.A: field T\n", ""), "## Next\n\n* `comm.Pair.A` is new.\n", false},
		{"a new type, and told", strings.Join(slices.DeleteFunc(strings.SplitAfter(apiListed, "\n"), func(l string) bool { return strings.HasPrefix(l, "comm.Pair") }), ""), "## Next\n\n* `comm.Pair` is new.\n", false},
		{"nothing listed, and all told", "", "## Next\n\n* `comm.*` is new.\n", false},
		{"gone", apiListed + old, "# Changes\n", true},
		{"gone, and told", apiListed + old, "# Changes\n\n## Next\n\n* `comm.Recv` is gone: use Mprobe.\n", false},
		{"gone, and its package told", apiListed + old, "# Changes\n\n## Next\n\n* `comm.*` moves.\n", false},
		{"told of an older version", apiListed + old, "# Changes\n\n## Next\n\n## v0.1\n\n* `comm.Recv` is gone.\n", true},
		{"told of one with a longer name", apiListed + old, "## Next\n\n* `comm.RecvValue` is gone.\n", true},
		{"another shape", strings.ReplaceAll(apiListed, "= -1", "= -7"), "# Changes\n", true},
		{"gone with its type, which is told", apiListed + "comm.Old.Wait: func (*Old) Wait()\n", "## Next\n\n* `comm.Old` is gone.\n", false},
		{"gone from its type, which is told of", apiListed + "comm.Pair.Wait: func (*Pair) Wait()\n", "## Next\n\n* `comm.Pair` is new.\n", true},
		{"one parameter more", strings.ReplaceAll(apiListed, "int, int, []T", "int, []T"), "# Changes\n", true},
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
			require.Regexp(t, "api/comm.txt: (gone or changed|new), and the next version", found[0].String())
		})
	}
	tree, _ := fake(t, nil)
	_, err := API(tree)
	require.Error(t, err, "a missing changelog")
}
