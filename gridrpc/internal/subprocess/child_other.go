//go:build !linux

package subprocess

import "os/exec"

// EndWithParent has no effect: only Linux has such a request.
func EndWithParent(*exec.Cmd) {}

// OwnGroup has no effect: the launcher exists on Linux only.
func OwnGroup(*exec.Cmd) {}
