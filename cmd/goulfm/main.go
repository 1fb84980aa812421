// Command goulfm runs goulfm programs: goulfm run -n 8 ./examples/heat.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

const versionUsage = `usage: goulfm version

Prints the versions of goulfm and Go, and the build. All processes of a job must have the same build.

  goulfm version
`

func main() { os.Exit(command(context.Background(), os.Args[1:])) }

func command(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage())
		return launch.ExitUsage
	}
	name := args[0]
	switch {
	case isHelp(name):
		return printHelp(ctx, slices.DeleteFunc(slices.Clone(args[1:]), isHelp))
	case strings.TrimLeft(name, "-") == "version":
		name = "version"
	}
	c, known := find(name)
	if !known {
		fmt.Fprintf(os.Stderr, "goulfm %s: no such command: goulfm help lists them\n", name)
		return launch.ExitUsage
	}
	return c.run(ctx, args[1:])
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

// versionOf describes a binary: the version of the module or the commit of a checkout, changes
// made there, and the build.
func versionOf(info *debug.BuildInfo) string {
	setting := map[string]string{"GOOS": runtime.GOOS, "GOARCH": runtime.GOARCH}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	version := releaseOf(info)
	if revision := setting["vcs.revision"]; revision != "" {
		version += ", commit " + revision[:min(12, len(revision))]
	}
	if setting["vcs.modified"] == "true" {
		version += " and changes"
	}
	return fmt.Sprintf("goulfm %s, %s, %s %s/%s", version, ownBuild(), info.GoVersion, setting["GOOS"], setting["GOARCH"])
}

// releaseOf returns the version of the module, or unreleased.
func releaseOf(info *debug.BuildInfo) string {
	if version := info.Main.Version; version != "" && version != "(devel)" {
		return version
	}
	return "unreleased"
}
