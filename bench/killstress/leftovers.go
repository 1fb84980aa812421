package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// leftovers lists the processes and files that a finished job has left. What it finds
// it removes, so that the next one is judged by its own.
func (d *driver) leftovers(shmBefore map[string]bool) (left []string) {
	for _, pid := range d.processes() {
		left = append(left, fmt.Sprint("process ", pid))
		_ = syscall.Kill(pid, syscall.SIGKILL)
		await(pid)
	}
	for name := range names(d.tmp) {
		left = append(left, "file "+name)
		os.RemoveAll(filepath.Join(d.tmp, name))
	}
	for name := range names("/dev/shm") {
		if !shmBefore[name] {
			left = append(left, "shared memory "+name)
		}
	}
	return left
}

// await waits until a process that was killed is gone, or is a zombie, which has no
// program: on a busy machine it may take a while to die, and the next job would be
// blamed for it.
func await(pid int) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
			return
		}
	}
}

// processes finds those that run our programs with our TMPDIR. Where there is no /proc
// it finds none.
func (d *driver) processes() (pids []int) {
	ours := []byte("TMPDIR=" + d.tmp + "\x00")
	for name := range names("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		exe, _ := os.Readlink(filepath.Join("/proc", name, "exe"))
		env, _ := os.ReadFile(filepath.Join("/proc", name, "environ"))
		if (exe == d.self || filepath.Base(exe) == filepath.Base(d.goulfm)) && bytes.Contains(env, ours) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func names(dir string) map[string]bool {
	found := map[string]bool{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		found[e.Name()] = true
	}
	return found
}
