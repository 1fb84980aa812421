package long

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/machine"
	"github.com/goulfm/goulfm/internal/testing/harness/procfs"
)

// A progress is the part of a line of day -json that this command reads.
type progress struct {
	Seconds    float64
	Agreements uint64
	Failures   uint64
	Done       bool
}

// A job runs pieces as real jobs.
type job struct {
	options
	goulfm, self string // the programs
}

// args returns the arguments of the launcher for a program.
func (j *job) args(program string, seed uint64, length time.Duration) []string {
	args := []string{"run", "-q", "-n", strconv.Itoa(j.n), "--spares", strconv.Itoa(j.spares)}
	args = append(append(args, strings.Fields(j.launch)...), program)
	return append(args, "day", "-for", length.String(), "-seed", strconv.FormatUint(seed, 10))
}

// again returns the command that repeats a piece.
func (j *job) again(seed uint64, length time.Duration) string {
	return "goulfm " + strings.Join(j.args("./stress/endure", seed, length), " ")
}

// Times of the driver.
const (
	endMax     = 10 * time.Second      // a launcher may take to end a job
	sampleMost = time.Second           // between two measurements
	sampleMin  = 50 * time.Millisecond // the same, until all ranks run
)

// run runs a piece, and waits for its end. After the end of ctx, the launcher gets SIGTERM. After
// the piece's length and the grace, the launcher reports the waits of all ranks and ends the job
// (its flag --timeout). A launcher that does not obey either is killed.
func (j *job) run(ctx context.Context, seed uint64, length time.Duration, note func(progress)) (outcome, error) {
	o := outcome{row: newRow(seed)}
	limit := length + j.grace
	args := append(j.args(j.self, seed, length), "-json", "-every", j.every.String())
	args = append([]string{args[0], "--timeout", limit.String()}, args[1:]...)
	cmd := exec.CommandContext(ctx, j.goulfm, args...)
	lines := &lineReader{note: note}
	var errs tail
	cmd.Stdout, cmd.Stderr = lines, &errs
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endMax

	// The system sends the signal of attributes at the end of the thread that has started the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return o, err
	}
	pid := cmd.Process.Pid
	stop := time.AfterFunc(limit+endMax, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	m := sampler{pid: pid, ranks: j.n, exe: j.self, tenth: length / 10}
	ended := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() { m.loop(min(sampleMost, length/20), ended) })
	_ = cmd.Wait() // the state has the result
	stop.Stop()
	close(ended)
	sampling.Wait()
	_ = syscall.Kill(-pid, syscall.SIGKILL) // the launcher's group, if any of it is left

	took := time.Since(start)
	o.Seconds, o.Code, o.Load = took.Seconds(), cmd.ProcessState.ExitCode(), machine.Load()
	o.Agreements, o.Failures = lines.last.Agreements, lines.last.Failures
	o.Start, o.Tenth, o.End, o.Rank = m.start, m.afterTenth, m.end, m.rank
	switch {
	case o.Code == 0 && lines.last.Done:
		return o, nil
	case took >= limit:
		o.Hangs = 1
	default:
		o.Wrong = 1
	}
	o.transcript = fmt.Sprintf("$ %s\n%s%s", cmd, &lines.others, &errs)
	return o, nil
}

// A sampler measures a job from outside.
type sampler struct {
	pid   int           // of the launcher
	ranks int           // as many have to run before the first sample counts
	exe   string        // the program of the ranks
	tenth time.Duration // of the length of the piece

	begun                        time.Time // all ranks ran
	start, afterTenth, end, rank int64
}

// loop measures until the end of the job.
func (m *sampler) loop(every time.Duration, ended <-chan struct{}) {
	for {
		m.sample()
		wait := every
		if m.begun.IsZero() {
			wait = min(every, sampleMin)
		}
		select {
		case <-ended:
			return
		case <-time.After(wait):
		}
	}
}

func (m *sampler) sample() {
	launcher := procfs.RSS(m.pid)
	if launcher == 0 {
		return // it has ended
	}
	running := 0
	for _, pid := range procfs.Descendants(m.pid) {
		if procfs.Program(pid) == m.exe {
			running++
			m.rank = max(m.rank, procfs.RSS(pid))
		}
	}
	if m.begun.IsZero() {
		if running < m.ranks {
			return
		}
		m.begun, m.start = time.Now(), launcher
	}
	if m.end = launcher; m.afterTenth == 0 && time.Since(m.begun) >= m.tenth {
		m.afterTenth = launcher
	}
}

// A lineReader reads the output of day -json, and keeps the last figures and the other lines.
type lineReader struct {
	note   func(progress)
	part   []byte // of a line
	last   progress
	others tail
}

func (l *lineReader) Write(b []byte) (int, error) {
	l.part = append(l.part, b...)
	for {
		line, rest, found := bytes.Cut(l.part, []byte("\n"))
		if !found {
			return len(b), nil
		}
		l.part = rest
		var p progress
		if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &p) != nil {
			_, _ = l.others.Write(append(line[:len(line):len(line)], '\n')) // never fails
			continue
		}
		l.last = p
		if !p.Done {
			l.note(p)
		}
	}
}

// A tail keeps the end of an output.
type tail struct{ text []byte }

// tailMax bounds a tail, in bytes: stacks and waits of a hang are long.
const tailMax = 1 << 20

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if over := len(t.text) - tailMax; over > 0 {
		t.text = t.text[over:]
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.text) }
