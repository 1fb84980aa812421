//go:build !linux

package remotedaemon

import (
	"context"
	"errors"
	"io"
	"time"
)

// AsTold stands for the node that the bootstrap names.
const AsTold = -1

// Run fails: several processes need Linux.
func Run(context.Context, io.Reader, int, time.Duration) (int, error) {
	return 2, errors.New("goulfm daemon needs Linux")
}
