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

const usage = `goulfm runs programs on several processes that survive each other's death.

  goulfm run [flags] PROGRAM|GO-PACKAGE [args...]   start the ranks of a job
  goulfm daemon [flags] -- PROGRAM [args...]        the same where a job engine starts one on each node
  goulfm new [flags] NAME                           write the beginning of a program that outlives its processes
  goulfm watch [flags]                              print the events of processes of a job of goulfm run --watch
  goulfm doctor [flags]                             examine this machine and the job engine
  goulfm sim [flags]                                simulate a cluster in virtual time
  goulfm checkpoint ls|verify|rm DIR                versions that package recovery has written to a folder
  goulfm version                                    versions of goulfm, Go and the machine
  goulfm help [COMMAND]                             this text, or the flags of a command and examples

An example: goulfm run -n 8 --kill 3@step=40 ./examples/heat
`

const versionUsage = `usage: goulfm version

Prints the versions of goulfm and Go, and the build. All processes of a job must have the same build.

  goulfm version
`

func main() { os.Exit(command(context.Background(), os.Args[1:])) }

func command(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return launch.ExitUsage
	}
	switch args[0] {
	case "run":
		return run(ctx, args[1:])
	case "new":
		return begin(args[1:], os.Stdout, os.Stderr)
	case "watch":
		return watchJob(ctx, args[1:], os.Stdout, os.Stderr)
	case "sim":
		return simulate(args[1:])
	case "checkpoint":
		return checkpoints(ctx, args[1:], os.Stdout, os.Stderr)
	case "version", "--version", "-version":
		if slices.ContainsFunc(args[1:], func(arg string) bool { return strings.TrimLeft(arg, "-") == "h" || arg == "--help" || arg == "-help" }) {
			fmt.Print(versionUsage)
			return 0
		}
		fmt.Println(version())
		return 0
	case "help", "-h", "--help", "-help":
		if len(args) > 1 && args[1] != "help" {
			return command(ctx, []string{args[1], "-h"})
		}
		fmt.Print(usage)
		return 0
	case "daemon":
		return serveNode(ctx, args[1:])
	case "doctor":
		if code, isOne := sibling(os.Getenv(siblingVariable)); isOne {
			return code
		}
		return doctor(ctx, args[1:])
	}
	fmt.Fprintf(os.Stderr, "goulfm %s: no such command: goulfm help lists them\n", args[0])
	return launch.ExitUsage
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
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "unreleased"
	}
	if revision := setting["vcs.revision"]; revision != "" {
		version += ", commit " + revision[:min(12, len(revision))]
	}
	if setting["vcs.modified"] == "true" {
		version += " and changes"
	}
	return fmt.Sprintf("goulfm %s, %s, %s %s/%s", version, ownBuild(), info.GoVersion, setting["GOOS"], setting["GOARCH"])
}
