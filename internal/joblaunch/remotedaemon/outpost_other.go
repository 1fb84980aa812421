//go:build !linux

package remotedaemon

import (
	"context"
	"errors"
	"io"
	"time"
)

// AsTold is the node of a daemon whose bootstrap is its own.
const AsTold = -1

// Run fails: several processes need Linux.
func Run(context.Context, io.Reader, int, time.Duration) (int, error) {
	return 2, errors.New("goulfm daemon needs Linux")
}
