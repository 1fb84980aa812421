package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A driver runs jobs.
type driver struct {
	options
	self string // the program of the ranks
	tmp  string // where the launcher and the ranks find TMPDIR
	out  io.Writer
}

// stress does it all and returns the exit code.
func stress(o options) (code int, err error) {
	dir, err := os.MkdirTemp("", "killstress")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	d, err := newDriver(o, dir)
	if err != nil {
		return 0, err
	}
	if d.runAll() {
		return 0, nil
	}
	return 1, nil
}

// newDriver builds the launcher if it is not given. A copy of this program in a
// directory of our own is what the ranks run: by it they are known.
func newDriver(o options, dir string) (*driver, error) {
	d := &driver{options: o, tmp: filepath.Join(dir, "tmp"), self: filepath.Join(dir, "killstress"), out: os.Stdout}
	if err := os.Mkdir(d.tmp, 0o700); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(self)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.self, text, 0o700); err != nil {
		return nil, err
	}
	if d.goulfm == "" {
		d.goulfm = filepath.Join(dir, "goulfm")
		if out, err := exec.Command("go", "build", "-o", d.goulfm, "./cmd/goulfm").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build ./cmd/goulfm: %w\n%s", err, out)
		}
	}
	return d, nil
}

// runAll runs the jobs and says whether all were right.
func (d *driver) runAll() bool {
	fmt.Fprintf(d.out, "killstress: jobs of %d ranks and %v, seed %d\n", d.n, d.span, d.seed)
	var all tally
	start := time.Now()
	for i := d.first; d.jobs > 0 && all.jobs < d.jobs || d.jobs == 0 && all.kills < d.kills; i++ {
		j := d.draw(i)
		r := d.run(j)
		bad := all.add(r)
		if d.verbose || bad != "" {
			_, killed := r.deaths()
			fmt.Fprintf(d.out, "job %d: %v, %d killed, %s\n", i, r.took.Round(time.Millisecond), killed, strings.TrimSpace(r.stdout))
		}
		if bad != "" {
			fmt.Fprintf(d.out, "\njob %d is wrong: %s; -seed %d -first %d -jobs 1 -n %d -span %v\n$ %s\n%s%s\n", i, bad, d.seed, i, d.n, d.span, r.command, r.stdout, r.stderr)
		}
		if all.jobs-all.right >= 20 {
			fmt.Fprintln(d.out, "killstress: enough")
			break
		}
	}
	all.total = time.Since(start)
	all.print(d.out)
	return all.right == all.jobs
}

// A job is what one is to do, and who dies when, in the words of --kill.
type job struct {
	seed  uint64
	kills []string
}

// draw chooses the victims of a job and the instants of their deaths: anywhere in the
// time that it works, or a little later; some jobs lose all of them at once, some
// nearly.
func (d *driver) draw(number int) job {
	rng := rand.New(rand.NewPCG(d.seed, uint64(number)))
	j := job{seed: rng.Uint64()}
	anywhere := func() time.Duration { return time.Duration(rng.Int64N(int64(d.span + d.span/10))) }
	first, kind := anywhere(), rng.IntN(4)
	victims := rng.Perm(d.n)[:1+rng.IntN(d.n-1)]
	if d.calm {
		return j
	}
	for _, v := range victims {
		at := first
		switch kind {
		case 0: // all at once
		case 1: // within one millisecond
			at += time.Duration(rng.Int64N(int64(time.Millisecond)))
		default:
			at = anywhere()
		}
		j.kills = append(j.kills, fmt.Sprintf("%d@%s", v, at.Round(time.Microsecond)))
	}
	return j
}

// A result is what came of a job.
type result struct {
	command        string
	stdout, stderr string
	took           time.Duration
	hung           bool
	err            error // of the launcher's process
	left           []string
}

// run starts the launcher and waits for its end. Before the time is up the launcher
// itself says who waits for whom; if that does not help, it is killed with all its
// children.
func (d *driver) run(j job) result {
	args := []string{"run", "--report", "json", "-n", strconv.Itoa(d.n), "--timeout", d.timeout.String()}
	args = append(args, strings.Fields(d.launch)...)
	for _, k := range j.kills {
		args = append(args, "--kill", k)
	}
	args = append(args, d.self, "-rank", "-seed", strconv.FormatUint(j.seed, 10), "-span", d.span.String())
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(d.goulfm, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "TMPDIR="+d.tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // for a rank left behind that holds the output open

	shm := names("/dev/shm")
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return result{command: cmd.String(), err: err}
	}
	const grace = 10 * time.Second
	stop := time.AfterFunc(d.timeout+grace, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	stop.Stop()
	r := result{command: cmd.String(), took: time.Since(start), err: err, stdout: stdout.String(), stderr: stderr.String()}
	r.hung = r.took >= d.timeout
	r.left = d.leftovers(shm)
	return r
}
