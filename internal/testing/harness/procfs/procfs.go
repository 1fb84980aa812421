// Package procfs reads the memory, the descriptors, the program and the relatives of a process from
// /proc. If there is no /proc, or if the process has ended, figures are 0, and names and lists are
// empty.
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

// Program returns the file of the program that a process runs, or "".
func Program(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return name
}

// Parent returns the parent of a process.
func Parent(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return parent(string(text))
}

// Descendants returns the children of a process, their children and so on. A process that starts or
// ends during the call may be missing.
func Descendants(pid int) (all []int) {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc") // no /proc: no entries
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		parent := Parent(child)
		children[parent] = append(children[parent], child)
	}
	delete(children, 0) // ended meanwhile
	all = append(all, children[pid]...)
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// parent finds the parent in the stat file of a process; 0 if there is none. The second field is
// the name of the program in parentheses, which may contain blanks and parentheses.
func parent(stat string) int {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(f[1])
	return pid
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
