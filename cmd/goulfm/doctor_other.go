//go:build !linux

package main

import (
	"context"
	"runtime"

	"github.com/goulfm/goulfm/internal/joblaunch/launch"
)

// examineMachine reports that jobs of several processes need Linux.
func examineMachine(int) []finding {
	return []finding{{isMissing, "kernel", runtime.GOOS, "several processes need Linux: here a program is a world of one, and commtest has ranks in one process"}}
}

func examineHosts(context.Context, *launch.Spec) []finding { return nil }

func runPeer(context.Context, []string) {}

const siblingVariable = ""

func sibling(string) (code int, isOne bool) { return 0, false }
