package window

import (
	"os"
	"strconv"
)

// IsGone reports whether a process has ended, or is about to end: the kernel closes the descriptors
// of a killed process before it reports the end.
func IsGone(pid uint64) bool {
	open, err := os.ReadDir("/proc/" + strconv.FormatUint(pid, 10) + "/fd")
	return err != nil || len(open) == 0
}
