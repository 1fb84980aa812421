package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVersion: the text names the version, or the commit of a checkout, and the build, the version
// of Go and the platform.
func TestVersion(t *testing.T) {
	setting := func(pairs ...string) (list []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	machine := []string{"GOOS", "linux", "GOARCH", "arm64"}
	for _, c := range []struct {
		version  string
		settings []string
		want     string
	}{
		{"v" + release, machine, "goulfm RELEASE, BUILD, go1.26 linux/arm64"},
		{"v0.1.1-0.20261129135328-5f66214daaaa", machine, "goulfm RELEASE, module v0.1.1-0.20261129135328-5f66214daaaa, BUILD, go1.26 linux/arm64"},
		{"v0.0.0-20261129135328-5f66214daaaa+dirty", append(machine, "vcs.revision", "0123456789abcdef0123", "vcs.modified", "true"), "goulfm RELEASE, commit 0123456789ab and changes, BUILD, go1.26 linux/arm64"},
		{"(devel)", append(machine, "vcs.revision", "0123456789abcdef0123", "vcs.modified", "false"), "goulfm RELEASE, commit 0123456789ab, BUILD, go1.26 linux/arm64"},
		{"", append(machine, "vcs.revision", "0123", "vcs.modified", "true"), "goulfm RELEASE, commit 0123 and changes, BUILD, go1.26 linux/arm64"},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: c.version}, Settings: setting(c.settings...)}
		want := strings.NewReplacer("RELEASE", release, "BUILD", fmt.Sprintf("build %08x", buildid.Build)).Replace(c.want)
		assert.Equal(t, want, versionOf(info))
	}
}

// TestReleaseIsTheNewestOfTheChangelog, or the next version with -dev while CHANGELOG.md has
// entries below "Next". The module gridrpc has the same version.
func TestReleaseIsTheNewestOfTheChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	dated := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$`).FindSubmatch(text)
	newest := ""
	if dated != nil {
		newest = string(dated[1])
	}
	if next, ok := strings.CutSuffix(release, "-dev"); ok {
		assert.NotEqual(t, newest, next, "the version after that of CHANGELOG.md")
	} else {
		assert.Equal(t, newest, release)
	}
	other, err := os.ReadFile("../../gridrpc/cmd/gridrpc/usage.go")
	require.NoError(t, err)
	assert.Contains(t, string(other), fmt.Sprintf("const release = %q", release))
}
