//go:build failpoints && linux

package main

import (
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"golang.org/x/sys/unix"
)

// armPart has this process end by SIGKILL at its k-th failpoint from here on, if
// GOULFM_KILL_PART names it: "rank:k". disarm ends that, and tells the number of
// points; 0 at the other ranks.
func armPart(me int) (disarm func() uint64, err error) {
	var rank int
	var at uint64
	if _, err := fmt.Sscanf(os.Getenv("GOULFM_KILL_PART"), "%d:%d", &rank, &at); err != nil {
		return nil, fmt.Errorf("GOULFM_KILL_PART: %w", err)
	}
	if rank != me {
		return func() uint64 { return 0 }, nil
	}
	first := failpoint.Count()
	failpoint.On(func(k uint64) {
		if k-first == at {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	})
	return func() uint64 {
		failpoint.On(nil)
		return failpoint.Count() - first
	}, nil
}
