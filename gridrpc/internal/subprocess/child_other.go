//go:build !linux

package subprocess

import "os/exec"

// EndWithParent does nothing: only Linux knows of such a wish.
func EndWithParent(*exec.Cmd) {}

// OwnGroup does nothing: there is no launcher but on Linux.
func OwnGroup(*exec.Cmd) {}
