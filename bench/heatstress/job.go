package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A job runs heat under the launcher.
type job struct {
	options
	tmp string // where the launcher and the ranks find TMPDIR
}

// A run is what came of one.
type run struct {
	command string
	output  string
	took    time.Duration
	hung    bool
	err     error // of the launcher's process
	left    []string
}

// run starts the launcher and waits for its end. Before the time is up, the
// launcher itself says who waits for whom; if that does not help, it is killed
// with all its children.
func (j *job) run(kills []string) run {
	args := []string{"run", "-n", strconv.Itoa(j.n), "--timeout", j.timeout.String()}
	for _, k := range kills {
		args = append(args, "--kill", k)
	}
	args = append(append(args, j.heat), j.args...)
	var output bytes.Buffer
	cmd := exec.Command(j.goulfm, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env = append(os.Environ(), "TMPDIR="+j.tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // for a rank left behind that holds the output open

	shm := names("/dev/shm")
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return run{command: cmd.String(), err: err}
	}
	const grace = 10 * time.Second
	stop := time.AfterFunc(j.timeout+grace, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	stop.Stop()
	r := run{command: cmd.String(), took: time.Since(start), err: err}
	r.hung = r.took >= j.timeout
	r.left = j.leftovers(shm)
	r.output = output.String()
	return r
}

// leftovers lists the processes and files that a finished run has left. What it
// finds it removes, so that the next run is judged by its own.
func (j *job) leftovers(shmBefore map[string]bool) (left []string) {
	for _, pid := range j.processes() {
		left = append(left, fmt.Sprint("process ", pid))
		syscall.Kill(pid, syscall.SIGKILL)
	}
	for name := range names(j.tmp) {
		left = append(left, "file "+name)
		os.RemoveAll(filepath.Join(j.tmp, name))
	}
	for name := range names("/dev/shm") {
		if !shmBefore[name] {
			left = append(left, "shared memory "+name)
		}
	}
	return left
}

// processes finds those that run heat or the launcher with our TMPDIR. Where there is no /proc it
// finds none.
func (j *job) processes() (pids []int) {
	heat, _ := filepath.Abs(j.heat)
	goulfm, _ := filepath.Abs(j.goulfm)
	ours := []byte("TMPDIR=" + j.tmp + "\x00")
	for name := range names("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		exe, _ := os.Readlink(filepath.Join("/proc", name, "exe"))
		env, _ := os.ReadFile(filepath.Join("/proc", name, "environ"))
		if (exe == heat || exe == goulfm) && bytes.Contains(env, ours) {
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

// A result is the line that heat ends with.
type result struct {
	line  string
	steps int
}

var resultLine = regexp.MustCompile(`(?m)^result: steps=(\d+) residual=\S+ checksum=[0-9a-f]{16}$`)

// result finds it. Rank 0 may die between printing it and saying so; then the
// next one prints it again, and both must be the same.
func (r *run) result() (res result, bad string) {
	switch {
	case r.hung:
		return res, fmt.Sprintf("hung: %v", r.took.Round(time.Millisecond))
	case r.err != nil:
		return res, exitOf(r.err)
	case len(r.left) > 0:
		return res, "left behind: " + strings.Join(r.left, ", ")
	}
	for i, m := range resultLine.FindAllStringSubmatch(r.output, -1) {
		if i > 0 && m[0] != res.line {
			return res, "two different results"
		}
		res.line = m[0]
		res.steps, _ = strconv.Atoi(m[1])
	}
	if res.line == "" {
		return res, "no result"
	}
	return res, ""
}

// judge says what is wrong with a run, or nothing.
func (r *run) judge(want string) string {
	got, bad := r.result()
	if bad == "" && got.line != want {
		bad = fmt.Sprintf("got %q, want %q", got.line, want)
	}
	return bad
}

func exitOf(err error) string {
	if e := new(exec.ExitError); errors.As(err, &e) {
		return "ended with " + e.String()
	}
	return err.Error()
}

var repairLine = regexp.MustCompile(`(?m)^repair: (\d+) -> (\d+) ranks, lost \[[\d ]*\], (.*), [\d.]+ ms$`)

// A story is what heat said about its repairs.
type story struct{ repairs, lost, restarts, inRepair int }

func (r *run) story() (s story) {
	for _, m := range repairLine.FindAllStringSubmatch(r.output, -1) {
		before, _ := strconv.Atoi(m[1])
		after, _ := strconv.Atoi(m[2])
		s.repairs++
		s.lost += before - after
		if strings.Contains(m[3], "both lost") {
			s.restarts++
		}
		if strings.Contains(m[3], "tries") {
			s.inRepair++
		}
	}
	return s
}
