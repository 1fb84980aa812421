//go:build failpoints

package main

import (
	"os"
	"syscall"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// pointsBuilt reports whether this program has kill points.
const pointsBuilt = true

// armPoint makes this process end at its k-th kill point from here on.
func armPoint(k uint64) {
	first := failpoint.Count()
	failpoint.On(func(at uint64) {
		if at == first+k {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
}

// onPoints registers f, which is called at every kill point of this process.
func onPoints(f func()) { failpoint.On(func(uint64) { f() }) }
