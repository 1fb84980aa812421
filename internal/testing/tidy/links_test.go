package tidy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinksLeadSomewhere(t *testing.T) {
	tree, _ := repository(t)
	found, err := Links(tree)
	report(t, found, err)
}

func TestLinksOnFakePages(t *testing.T) {
	tree, _ := fake(t, map[string]string{
		"docs/a.md": "[b](b.md), [root](../README.md#top), [folder](../docs), [web](https://example.org/x.md)\n[c](c.md)\n",
		"docs/b.md": "`f[T](x)` is code\n```go\nf[T](x)\n```\n[d](d.md)\n",
		"README.md": "[a](docs/a.md) [gone](docs/gone.md#x)\n",
	})
	found, err := Links(tree)
	require.NoError(t, err)
	want(t, found,
		"docs/a.md:2: a link to docs/c.md",
		"README.md:1: a link to docs/gone.md",
		"docs/b.md:5: a link to docs/d.md",
	)
}

func TestSourcesOfPagesExist(t *testing.T) {
	tree, _ := repository(t)
	found, err := SourceNames(tree)
	report(t, found, err)
}

func TestSourcesOfFakePages(t *testing.T) {
	tree, _ := fake(t, map[string]string{
		"internal/a/b.go":  "package a\n",
		"docs/a.md":        "`a/b.go`, `internal/a/b.go`, [b](../internal/a/b.go), `b.go`\n`c/b.go`\n",
		"docs/TUTORIAL.md": "// hello/main.go\n",
	})
	found, err := SourceNames(tree)
	require.NoError(t, err)
	want(t, found, "docs/a.md:2: no file c/b.go")
}
