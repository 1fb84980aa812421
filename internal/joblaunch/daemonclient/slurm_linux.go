package daemonclient

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
)

// Slurm starts the daemons of the nodes of an allocation, with one srun for all of them: a step
// with a task on each. srun repeats its standard input to every task, so all daemons read the
// same bootstrap, and each finds its number by the name that Slurm has for its node.
type Slurm struct {
	Goulfm string   // there
	Nodes  []string // their names in Slurm, by node

	failed []func(error) // by node
}

// Start implements Starter. The call for the last node starts srun.
func (s *Slurm) Start(node int, _ string, bootstrap []byte, failed func(error)) (end func(isLost bool), err error) {
	s.failed = append(s.failed, failed)
	if node < len(s.Nodes)-1 {
		return func(bool) {}, nil
	}
	cmd := exec.Command("srun", s.args(srunHelp())...)
	cmd.Env = srunEnviron(os.Environ())
	// the terminal's signals are the launcher's
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return s.run(cmd, bootstrap)
}

// args are srun's. Its defaults and the site's settings are overruled where they would end a
// step with its first failure, and each node gives the daemon, and so its ranks, all that the
// allocation has there.
func (s *Slurm) args(help string) []string {
	n := fmt.Sprint(len(s.Nodes))
	list := hostlist.Format(s.Nodes)
	args := []string{"-N", n, "-n", n, "--ntasks-per-node=1", "-w", list, "--mpi=none", "--cpu-bind=none",
		"--kill-on-bad-exit=0", "--wait=0", "--no-kill", "--overlap", "--unbuffered"}
	// Slurm 23.11: a rank out of memory is one death, not that of its node
	if strings.Contains(help, "--oom-kill-step") {
		args = append(args, "--oom-kill-step=0")
	}
	return append(args, s.Goulfm, "daemon", "--nodes", list)
}

// srunHelp is the help text of srun; empty if there is none.
func srunHelp() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "srun", "--help").Output()
	return string(out)
}

// srunEnviron is env without the variables that would change the step as options do: the requests
// of the allocation per task are not meant for the daemons.
func srunEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(srunInputs, name)
	})
}

// srunInputs are variables that srun reads as options and that salloc, sbatch or a person may have
// set.
var srunInputs = []string{"SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_EXACT", "SLURM_EXCLUSIVE", "SLURM_TRES_PER_TASK",
	"SLURM_MEM_PER_CPU", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_GPU", "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_NTASKS_PER_CORE",
	"SLURM_NTASKS_PER_SOCKET", "SLURM_DISTRIBUTION", "SLURM_LABELIO", "SLURM_STDINMODE", "SLURM_STDOUTMODE", "SLURM_STDERRMODE",
	"SLURM_MULTI_PROG", "SLURM_HINT", "SLURM_THREADS_PER_CORE", "SLURM_CORE_SPEC", "SLURM_OVERCOMMIT", "SLURM_TIMELIMIT",
	"SLURM_WAIT", "SLURM_KILL_BAD_EXIT", "SLURM_MPI_TYPE", "SLURM_CPU_BIND", "SLURM_WORKING_DIR", "SLURM_REMOTE_CWD"}

// endPatience is how long srun may take to end by itself once the launcher has left the daemons.
const endPatience = 2 * time.Second

// run starts srun, and passes on the node of each task that srun reports as ended.
func (s *Slurm) run(cmd *exec.Cmd, bootstrap []byte) (end func(isLost bool), err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd.Stdin, cmd.Stderr = in, &srunErrors{s: s}
	if err := cmd.Start(); err != nil {
		out.Close()
		return nil, fmt.Errorf("%w: --launcher slurm needs Slurm's srun in PATH", err)
	}
	if _, err = out.Write(bootstrap); err != nil { // less than a pipe takes
		_ = cmd.Process.Kill()
	}
	ended := make(chan struct{})
	go func() {
		err := cmd.Wait()
		cmd.Stderr.(*srunErrors).end(err)
		close(ended)
	}()
	return func(bool) { // of all nodes, one of which may be lost
		out.Close()
		// srun ends the step
		term := time.AfterFunc(endPatience, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
		kill := time.AfterFunc(endPatience+endFor, func() { _ = cmd.Process.Kill() })
		<-ended
		term.Stop()
		kill.Stop()
	}, err
}

// A srunErrors reads the standard error of srun and the daemons. srun's line that a task has ended
// names the node; the task's own output may come before that line or shortly after.
type srunErrors struct {
	s       *Slurm
	mu      sync.Mutex
	pending []byte
	said    []string // by tasks, and by srun of no task
}

// lastWords is how long after srun's line the task's output may come.
const lastWords = 500 * time.Millisecond

// taskEnded is srun's line about a task: its node, and how.
var taskEnded = regexp.MustCompile(`^srun: error: ([^ :]+): task [0-9]+: (.*)$`)

// Write implements io.Writer.
func (e *srunErrors) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending = append(e.pending, b...)
	for {
		line, rest, ok := bytes.Cut(e.pending, []byte("\n"))
		if !ok {
			break
		}
		e.pending = rest
		e.line(string(line))
	}
	if len(e.pending) > tailMax {
		e.pending = e.pending[:0]
	}
	return len(b), nil
}

func (e *srunErrors) line(line string) {
	if m := taskEnded.FindStringSubmatch(line); m != nil {
		time.AfterFunc(lastWords, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.report(slices.Index(e.s.Nodes, m[1]), m[2])
		})
		return
	}
	if line = strings.TrimSpace(line); line != "" {
		e.said = append(e.said, line)
	}
	if over := len(e.said) - saidMax; over > 0 {
		e.said = e.said[over:]
	}
}

const saidMax = 8

// report reports that a node's daemon has ended.
func (e *srunErrors) report(node int, how string) {
	node = max(node, 0)
	text := how
	if len(e.said) > 0 {
		text = strings.Join(e.said, "\n")
	}
	if failed := e.s.failed[node]; failed != nil {
		e.s.failed[node] = nil
		failed(advise(text))
	}
}

// end is notified of the end of srun.
func (e *srunErrors) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		return
	}
	e.line(string(e.pending))
	e.report(0, err.Error())
}
