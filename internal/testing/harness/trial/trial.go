// Package trial runs jobs under the launcher, one after the other, for drivers that kill ranks. The
// result has the output of the job, the deaths, a hang, and the leftovers. A driver and the ranks
// of its jobs are one program.
package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CodeWrong is the exit code of a job in which a rank has found a broken promise.
const CodeWrong = 77

// BrokenPromise is the result of Judge for a broken promise.
const BrokenPromise = "a broken promise"

// A Place is a folder for jobs, which identifies their processes and files.
type Place struct {
	Goulfm  string        // the launcher
	Self    string        // the program of the ranks: a copy of this one, until another is set
	Timeout time.Duration // a job that takes longer hangs
	Before  []string      // a command that runs the launcher, as taskset; nil: none
	dir     string
	tmp     string // where the launcher and the ranks find TMPDIR
}

// Open makes a place. The ranks run a copy of this program. The launcher is built if none is given.
func Open(name, goulfm string, timeout time.Duration) (*Place, error) {
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, err
	}
	p := &Place{Goulfm: goulfm, Self: filepath.Join(dir, name), Timeout: timeout, dir: dir, tmp: filepath.Join(dir, "tmp")}
	if err := p.fill(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// fill creates the folders and programs of a new place.
func (p *Place) fill() error {
	if err := os.Mkdir(p.tmp, 0o700); err != nil {
		return err
	}
	if err := copySelf(p.Self); err != nil {
		return err
	}
	if p.Goulfm != "" {
		return nil
	}
	var err error
	p.Goulfm, err = p.Build("cmd/goulfm")
	return err
}

// Build compiles a program of this module, such as "examples/heat", and returns its file, which
// Close removes.
func (p *Place) Build(program string) (file string, err error) { return p.BuildTagged(program, "") }

// BuildTagged is Build with build tags, for which it makes another file.
func (p *Place) BuildTagged(program, tags string) (file string, err error) {
	file = filepath.Join(p.dir, filepath.Base(program)+tags)
	cmd := exec.Command("go", "build", "-tags", tags, "-o", file, "github.com/goulfm/goulfm/"+program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", program, err, out)
	}
	return file, nil
}

func copySelf(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o700)
}

// Close removes the place.
func (p *Place) Close() { os.RemoveAll(p.dir) }

// A Result is the result of a job.
type Result struct {
	Command        string
	Stdout, Stderr string
	Took           time.Duration
	CPU            time.Duration // of the launcher and of its reaped children
	Hung           bool
	Err            error    // of the launcher's process
	Left           []string // processes, files and shared memory
}

// graceMax bounds the time that a launcher may take to end a job after its timeout.
const graceMax = 10 * time.Second

// Run runs a job of n ranks and waits for its end. The launcher gets flags, the ranks get args.
// After the timeout the launcher reports the waits of all ranks. If it does not end then, it is
// killed with all its children.
func (p *Place) Run(n int, flags, args []string) Result {
	argv := append([]string{"run", "--report", "json", "-n", strconv.Itoa(n), "--timeout", p.Timeout.String()}, flags...)
	argv = append(append(argv, p.Self), args...)
	var stdout, stderr bytes.Buffer
	argv = append(append(slices.Clone(p.Before), p.Goulfm), argv...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+p.tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // for a rank left behind that holds the output open

	shm := names("/dev/shm")
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{Command: cmd.String(), Err: err}
	}
	pid := cmd.Process.Pid
	// A launcher that hangs prints its stacks before it is killed.
	tell := time.AfterFunc(p.Timeout+graceMax, func() { _ = syscall.Kill(pid, syscall.SIGABRT) })
	stop := time.AfterFunc(p.Timeout+graceMax+time.Second, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	err := cmd.Wait()
	tell.Stop()
	stop.Stop()
	r := Result{Command: cmd.String(), Took: time.Since(start), Err: err, Stdout: stdout.String(), Stderr: stderr.String()}
	r.Hung = r.Took >= p.Timeout
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.Left = p.leftovers(shm)
	return r
}

// leftovers lists and removes the leftovers of a finished job, so that the next job is judged by
// its own.
func (p *Place) leftovers(shmBefore map[string]bool) (left []string) {
	for _, pid := range p.processes() {
		left = append(left, fmt.Sprint("process ", pid))
		_ = syscall.Kill(pid, syscall.SIGKILL)
		p.await(pid)
	}
	for name := range names(p.tmp) {
		left = append(left, "file "+name)
		os.RemoveAll(filepath.Join(p.tmp, name))
	}
	for name := range names("/dev/shm") {
		if !shmBefore[name] && strings.HasPrefix(name, "goulfm") { // other libraries create and remove files, too
			left = append(left, "shared memory "+name)
		}
	}
	slices.Sort(left)
	return left
}

// processes returns all processes with the TMPDIR of this place, for any program: no other process
// has it. Without /proc it finds none.
func (p *Place) processes() (pids []int) {
	ours := []byte("TMPDIR=" + p.tmp + "\x00")
	for name := range names("/proc") {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if env, _ := os.ReadFile(filepath.Join("/proc", name, "environ")); bytes.Contains(env, ours) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// await waits until a killed process has ended or is a zombie, which has no program. On a busy
// machine its death may take a while, and it would count as a leftover of the next job.
func (p *Place) await(pid int) {
	for end := time.Now().Add(graceMax); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
			return
		}
	}
}

func names(dir string) map[string]bool {
	found := map[string]bool{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		found[e.Name()] = true
	}
	return found
}

// An Event is a line of the launcher's report. Times are seconds since its start.
type Event struct {
	Event     string  `json:"event"`
	At        float64 `json:"at"`
	Rank      int     `json:"rank"`
	Ranks     []int   `json:"ranks"`
	Cause     string  `json:"cause"`
	By        string  `json:"by"`      // the evidence
	Planned   string  `json:"planned"` // the moment that --kill named, if it was that
	LatencyMs float64 `json:"latencyMs"`
	Size      string  `json:"size"`
	Text      string  `json:"text"`
}

// Killed is the cause of a death by SIGKILL.
const Killed = "killed (SIGKILL)"

// Events lists the events of one kind in the launcher's report, in order.
func (r *Result) Events(kind string) (all []Event) {
	for line := range strings.Lines(r.Stderr) {
		var ev Event
		if json.Unmarshal([]byte(line), &ev) == nil && ev.Event == kind {
			all = append(all, ev)
		}
	}
	return all
}

// Deaths lists the deaths of ranks.
func (r *Result) Deaths() []Event { return r.Events("death") }

// Judge returns the mistake of a job, or "". For any driver a job must end in time with exit code
// 0, lose ranks by SIGKILL only, and leave nothing.
func (r *Result) Judge() string {
	exit := new(exec.ExitError)
	switch {
	case r.Hung:
		return "hung"
	case errors.As(r.Err, &exit) && exit.ExitCode() == CodeWrong:
		return BrokenPromise
	case r.Err != nil:
		return "ended with " + r.Err.Error()
	case len(r.Left) > 0:
		return "left behind: " + strings.Join(r.Left, ", ")
	}
	for _, d := range r.Deaths() {
		if d.Cause != Killed {
			return fmt.Sprintf("rank %d is lost: %s", d.Rank, d.Cause)
		}
	}
	return ""
}

// Transcript returns the command and the whole output of a wrong job.
func (r *Result) Transcript() string {
	return fmt.Sprintf("$ %s\n%s%s", r.Command, r.Stdout, readable(r.Stderr))
}

// readable replaces the report's dumps, which are long and escaped, by their texts.
func readable(report string) string {
	var b strings.Builder
	for line := range strings.Lines(report) {
		var ev Event
		if json.Unmarshal([]byte(line), &ev) == nil && ev.Event == "dump" {
			line = ev.Text
		}
		b.WriteString(line)
	}
	return b.String()
}
