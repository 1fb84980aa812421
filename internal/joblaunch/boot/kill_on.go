//go:build failpoints && linux

package boot

import (
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"golang.org/x/sys/unix"
)

// KillVariable names, in builds with the tag failpoints, a rank and the point (see failpoint) at
// which the rank is to die: "2:17".
const KillVariable = "GOULFM_KILL_POINT"

// armKillpoint makes this process kill itself with SIGKILL at its k-th point.
func armKillpoint(me int) {
	var rank int
	var at uint64
	if _, err := fmt.Sscanf(os.Getenv(KillVariable), "%d:%d", &rank, &at); err != nil || rank != me {
		return
	}
	first := failpoint.Count()
	failpoint.On(func(k uint64) {
		if k-first == at {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	})
}
