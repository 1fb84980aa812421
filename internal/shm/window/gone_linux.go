package window

import (
	"os"
	"strconv"
)

// IsGone says whether a process has ended, or is about to: one that is killed lets go of its
// descriptors before anybody is told of its end.
func IsGone(pid uint64) bool {
	open, err := os.ReadDir("/proc/" + strconv.FormatUint(pid, 10) + "/fd")
	return err != nil || len(open) == 0
}
