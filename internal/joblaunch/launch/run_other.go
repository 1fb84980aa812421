//go:build !linux

package launch

import "context"

// Run fails: several processes need Linux.
func Run(context.Context, *Spec) (int, error) {
	return ExitFailed, fail(ExitFailed, "goulfm run needs Linux; elsewhere start the program directly: it is a world of one")
}
