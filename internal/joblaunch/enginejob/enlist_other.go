//go:build !linux

package enginejob

import (
	"context"
	"time"
)

// Enlist fails: daemons need Linux.
func Enlist(context.Context, time.Duration) (*Enlisted, error) { return nil, errUnsupported }
