//go:build !linux

package child

import "os/exec"

// EndWithParent does nothing: only Linux knows of such a wish.
func EndWithParent(*exec.Cmd) {}
