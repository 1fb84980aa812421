// Package procfs reads of a process, from /proc, how much memory and how many descriptors it has.
// Where there is no /proc, or no such process any more, that is 0.
package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// RSS returns the resident memory of a process, in KiB.
func RSS(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return rss(string(text))
}

// rss finds the resident memory, in KiB, in the status of a process.
func rss(status string) int64 {
	for line := range strings.Lines(status) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}

// Descriptors counts the open descriptors of a process; of this one without the one that reads the
// folder.
func Descriptors(pid int) int64 {
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	n := int64(len(names))
	if pid == os.Getpid() {
		n--
	}
	return n
}
