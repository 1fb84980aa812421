package main

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
)

// TestVersion: which version, or which commit of a checkout, and what built it for what.
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
		{"v0.3.1", machine, "goulfm v0.3.1, BUILD, go1.26 linux/arm64"},
		{"(devel)", append(machine, "vcs.revision", "0123456789abcdef0123", "vcs.modified", "false"), "goulfm unreleased, commit 0123456789ab, BUILD, go1.26 linux/arm64"},
		{"", append(machine, "vcs.revision", "0123", "vcs.modified", "true"), "goulfm unreleased, commit 0123 and changes, BUILD, go1.26 linux/arm64"},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: c.version}, Settings: setting(c.settings...)}
		assert.Equal(t, strings.Replace(c.want, "BUILD", fmt.Sprintf("build %08x", buildid.Build), 1), versionOf(info))
	}
}
