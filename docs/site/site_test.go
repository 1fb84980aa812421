package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// helpOfTwo stands for goulfm help, which the program site runs.
func helpOfTwo(command string) (string, error) {
	if command == "" {
		return "goulfm runs.\n\n  goulfm run [flags] PROGRAM    start the ranks of a job\n  goulfm version                print the version\n", nil
	}
	return "usage: goulfm " + command + " <none>\n", nil
}

// outside is a part of a page that a browser requests from another machine.
var outside = regexp.MustCompile(`<(script|link|img|iframe|source)[^>]* (src|href)="(https?:)?//|url\((https?:)?//|@import`)

func TestSiteOfTheRepository(t *testing.T) {
	s, err := assemble("../..", helpOfTwo)
	require.NoError(t, err)
	for _, want := range []string{
		"index.html", "docs/TUTORIAL.html", "docs/spec/index.html", "gridrpc/index.html", "CHANGELOG.html", "docs/images/recovery.svg",
		"pkg/index.html", "pkg/comm.html", "pkg/recovery/checkpoint.html", "commands/index.html", "commands/run.html", "site.css", "site.js", "index.js",
	} {
		assert.Contains(t, s.files, want)
	}
	for name, p := range s.pages {
		content := string(s.files[name])
		assert.NotEmpty(t, p.title, name)
		assert.Contains(t, content, "<title>", name)
		assert.Greater(t, len(p.content), 40, "%s has no content", name)
	}
	for name, content := range s.files {
		assert.Empty(t, outside.FindString(string(content)), "%s requests a file of another machine", name)
	}
	assert.Greater(t, s.resolved, 1000)
	send := string(s.files["pkg/comm.html"])
	for _, part := range []string{`id="Comm.Shrink"`, `id="ErrRevoked"`, ">Example", `comm/`, "#L"} {
		assert.Contains(t, send, part)
	}
	assert.Contains(t, string(s.files["commands/run.html"]), "goulfm run &lt;none&gt;")
}

// TestTwoSitesAreEqual: the files do not depend on the order of a map.
func TestTwoSitesAreEqual(t *testing.T) {
	a, err := assemble("../..", helpOfTwo)
	require.NoError(t, err)
	b, err := assemble("../..", helpOfTwo)
	require.NoError(t, err)
	names := slices.Sorted(maps.Keys(a.files))
	require.Equal(t, names, slices.Sorted(maps.Keys(b.files)))
	for _, n := range names {
		assert.True(t, string(a.files[n]) == string(b.files[n]), n)
	}
}

func TestLinksWithoutTarget(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "docs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "README.md"), []byte("# Home\n\n## A part\n"), 0o600))
	for _, c := range []struct{ link, want string }{
		{"../README.md#a-part", ""},
		{"../README.md", ""},
		{"#here", ""},
		{"https://example.org/", ""},
		{"../README.md#another-part", "docs/X.html: the link to index.html#another-part has no target"},
		{"#there", "docs/X.html: the link to docs/X.html#there has no target"},
		{"../LACKS.md", `docs/X.html: the link "../LACKS.md": the repository has no LACKS.md`},
		{"../../X.md", `docs/X.html: the link "../../X.md" leaves the repository`},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, "docs", "X.md"), fmt.Appendf(nil, "# X\n\n## Here\n\n[a link](%s)\n", c.link), 0o600))
		s := newSite(root)
		s.want("docs/X.md")
		err := s.addWanted()
		for name, p := range s.pages {
			s.files[name] = []byte(p.content)
		}
		if err == nil {
			err = s.checkLinks()
		}
		if c.want == "" {
			assert.NoError(t, err, c.link)
		} else {
			assert.EqualError(t, err, c.want)
		}
	}
}

func TestAddressesOfHeadings(t *testing.T) {
	for text, want := range map[string]string{
		"Racks":                            "racks",
		"Detection on a bad network":       "detection-on-a-bad-network",
		"`goulfm run --host`, and its TLS": "goulfm-run---host-and-its-tls",
		"The cost of a_b":                  "the-cost-of-a_b",
	} {
		assert.Equal(t, want, slug(text))
	}
	s := &slugs{used: map[string]int{}}
	assert.Equal(t, []string{"x", "x-1", "x-2"}, []string{string(s.Generate([]byte("X"), 0)), string(s.Generate([]byte("X"), 0)), string(s.Generate([]byte("x"), 0))})
}

func TestAddressesBetweenPages(t *testing.T) {
	for _, c := range []struct{ from, to, fragment, want string }{
		{"index.html", "docs/NODES.html", "racks", "docs/NODES.html#racks"},
		{"docs/NODES.html", "index.html", "", "../index.html"},
		{"docs/NODES.html", "docs/NODES.html", "racks", "#racks"},
		{"pkg/comm/file.html", "pkg/comm.html", "Comm", "../comm.html#Comm"},
	} {
		got := relative(c.from, c.to, c.fragment)
		assert.Equal(t, c.want, got)
		if file, _, _ := strings.Cut(got, "#"); file != "" {
			assert.Equal(t, c.to, path.Join(path.Dir(c.from), file))
		}
	}
}

// TestOnlyASiteIsReplaced: a wrong -out deletes nothing.
func TestOnlyASiteIsReplaced(t *testing.T) {
	dir := t.TempDir()
	assert.NoError(t, replaceable(filepath.Join(dir, "lacks")))
	assert.NoError(t, replaceable(dir))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o600))
	assert.ErrorContains(t, replaceable(dir), "holds files that are no site")
	require.NoError(t, os.WriteFile(filepath.Join(dir, marker), nil, 0o600))
	assert.NoError(t, replaceable(dir))
}
