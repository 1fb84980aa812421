package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/goulfm/goulfm/internal/base/buildid"
)

// release is the version of this source: the newest section of CHANGELOG.md, or the next version
// with -dev in a checkout after it (docs/HACKING.md, "A release").
const release = "0.2.0-dev"

const versionUsage = `usage: goulfm version

Prints the versions of goulfm and Go, and the build. All processes of a job must have the same build.

  goulfm version
`

func printVersion(_ context.Context, args []string) int {
	if slices.ContainsFunc(args, isHelp) {
		fmt.Print(versionUsage)
		return 0
	}
	fmt.Println(version())
	return 0
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return versionOf(info)
}

// ownBuild is how a version names the build. Processes of one job have the same (package layout).
func ownBuild() string { return fmt.Sprintf("build %08x", buildid.Build) }

// versionOf describes a binary: its version, the commit and the changes of a checkout, and the
// build. A pseudo-version of the module stands for the commit that a download lacks.
func versionOf(info *debug.BuildInfo) string {
	setting := map[string]string{"GOOS": runtime.GOOS, "GOARCH": runtime.GOARCH}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	version := release
	if revision := setting["vcs.revision"]; revision != "" {
		version += ", commit " + revision[:min(12, len(revision))]
	} else if v := info.Main.Version; v != "" && v != "(devel)" && v != "v"+release {
		version += ", module " + v
	}
	if setting["vcs.modified"] == "true" {
		version += " and changes"
	}
	return fmt.Sprintf("goulfm %s, %s, %s %s/%s", version, ownBuild(), info.GoVersion, setting["GOOS"], setting["GOARCH"])
}
