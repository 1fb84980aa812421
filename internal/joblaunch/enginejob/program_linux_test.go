package enginejob_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/joblaunch/enginejob"
	"github.com/goulfm/goulfm/internal/joblaunch/rm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test binary is also the program of the ranks, if programVariable is set. The binary is the
// daemon, too: a process becomes the daemon before any code of this file begins.
const (
	programVariable = "ADOPT_TEST_PROGRAM" // the name of the program to run
	dieVariable     = "ADOPT_TEST_DIE"     // the point at which to die
	sayVariable     = "ADOPT_TEST_SAY"     // the point at which to print its name
)

func TestMain(m *testing.M) {
	name, ok := os.LookupEnv(programVariable)
	if !ok {
		os.Exit(m.Run())
	}
	enginejob.At(func(point string) {
		if os.Getenv(sayVariable) == point {
			fmt.Println(point)
		}
		if os.Getenv(dieVariable) == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	programs[name]()
}

// programs are the bodies of the ranks.
var programs = map[string]func(){
	// sum: a barrier, and the sum of all pids.
	"sum": func() {
		comm.Main(func(ctx context.Context, w *comm.Comm) error {
			if err := collectives.Barrier(ctx, w); err != nil {
				return err
			}
			sum, err := collectives.AllreduceOne(ctx, w, os.Getpid(), collectives.Sum)
			fmt.Printf("rank %d of %d: %d\n", w.Rank(), w.Size(), sum)
			return err
		})
	},
	// survive: one barrier after another, until one fails; then the survivors continue.
	"survive": func() {
		comm.Main(func(ctx context.Context, w *comm.Comm) error {
			if err := collectives.Barrier(ctx, w); err != nil {
				return err
			}
			fmt.Println("together")
			for {
				if err := collectives.Barrier(ctx, w); err != nil {
					if !errors.Is(err, comm.ErrProcFailed) && !errors.Is(err, comm.ErrRevoked) {
						return err
					}
					break
				}
			}
			_ = w.Revoke()
			rest, err := w.Shrink(ctx)
			if err != nil {
				return err
			}
			n, err := collectives.AllreduceOne(ctx, rest, 1, collectives.Sum)
			fmt.Printf("rank %d of %d\n", rest.Rank(), n)
			return err
		})
	},
	// wait: Init and Finalize, then until its standard input ends.
	"wait": func() {
		comm.Main(func(_ context.Context, w *comm.Comm) error { fmt.Println("in", w.Size()); return nil })
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	// parent: Init, and then this program as a child.
	"parent": func() {
		comm.Main(func(_ context.Context, w *comm.Comm) error {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), programVariable+"=sum")
			out, err := cmd.CombinedOutput()
			fmt.Printf("child: %s", out)
			return err
		})
	},
	// abort: rank 1 ends the job.
	"abort": func() {
		comm.Main(func(ctx context.Context, w *comm.Comm) error {
			if w.Rank() == 1 {
				w.Abort(7)
			}
			<-ctx.Done()
			return nil
		})
	},
	// spawn: requests one more process.
	"spawn": func() {
		comm.Main(func(ctx context.Context, w *comm.Comm) error {
			_, err := w.Spawn(ctx, comm.SpawnSpec{N: 1})
			fmt.Printf("spawn: %v\n", err)
			return nil
		})
	},
	// threads: the number of threads that may run Go code.
	"threads": func() {
		comm.Main(func(context.Context, *comm.Comm) error { fmt.Println(runtime.GOMAXPROCS(0)); return nil })
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	// find: only its place.
	"find": func() {
		info, launched, err := enginejob.Find(context.Background())
		if err != nil || !launched {
			fmt.Println(launched, err)
			os.Exit(3)
		}
		fmt.Printf("%x %d\n", info.Job, info.Rank)
	},
}

// A step is a made-up step of Slurm, of one test.
type step struct {
	t       *testing.T
	cluster string
	number  int
	size    int
	nodes   int        // on which the ranks are, in turns; 0: one
	files   []*os.File // that ranks inherit besides
	isBare  bool       // no variables of a step
}

// newStep names a cluster that no other test has.
func newStep(t *testing.T, size int) step {
	t.Helper()
	s := step{t: t, cluster: fmt.Sprintf("%s-%d", t.Name(), os.Getpid()), size: size}
	t.Cleanup(func() { s.nothingIsLeft() })
	return s
}

func (s step) env(rank int) []string {
	var all []string
	nodes := max(s.nodes, 1)
	node := rank % nodes
	for r := node; r < s.size; r += nodes {
		all = append(all, strconv.Itoa(r))
	}
	return []string{"GORACE=atexit_sleep_ms=0", "SLURM_CLUSTER_NAME=" + s.cluster, "SLURM_JOB_ID=7", fmt.Sprintf("SLURM_STEP_ID=%d", s.number), fmt.Sprintf("SLURM_STEP_NUM_TASKS=%d", s.size),
		fmt.Sprintf("SLURM_PROCID=%d", rank), fmt.Sprintf("SLURM_LOCALID=%d", rank/nodes), fmt.Sprintf("SLURM_NODEID=%d", node), fmt.Sprintf("SLURM_STEP_NUM_NODES=%d", nodes), "SLURM_GTIDS=" + strings.Join(all, ",")}
}

// place returns the meeting place of the ranks of the step.
func (s step) place(uid int) string {
	c, err := rm.Recognise(s.env(0), nil)
	require.NoError(s.t, err)
	return enginejob.PlaceOf(uid, &c)
}

// nothingIsLeft checks that there is no daemon, and no socket.
func (s step) nothingIsLeft() {
	text, err := os.ReadFile("/proc/net/unix")
	require.NoError(s.t, err)
	for number := range 3 {
		s.number = number
		assert.False(s.t, strings.Contains(string(text), s.place(os.Getuid())), "the socket is there")
	}
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err == nil {
			assert.False(s.t, strings.Contains(string(env), "SLURM_CLUSTER_NAME="+s.cluster+"\x00"), path)
		}
	}
}

// A rank is a process that the test has started as one.
type rank struct {
	*exec.Cmd
	t     *testing.T
	stdin io.Closer
	out   *bufio.Reader
	errs  *bytes.Buffer
	rest  string // of out, after its end
	code  int
}

// start starts a rank. Its environment is that of an engine, and nothing else.
func (s step) start(program string, number int, env ...string) *rank {
	s.t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(append(s.env(number), programVariable+"="+program, "PATH="+os.Getenv("PATH")), env...)
	if s.isBare {
		cmd.Env = append([]string{"GORACE=atexit_sleep_ms=0", "SLURM_CLUSTER_NAME=" + s.cluster, programVariable + "=" + program}, env...)
	}
	r := &rank{Cmd: cmd, t: s.t, errs: &bytes.Buffer{}}
	in, err := cmd.StdinPipe()
	require.NoError(s.t, err)
	out, w, err := os.Pipe()
	require.NoError(s.t, err)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = w, r.errs, s.files
	require.NoError(s.t, cmd.Start())
	w.Close()
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); out.Close() })
	r.stdin, r.out = in, bufio.NewReader(out)
	return r
}

// line returns the next line that a rank prints.
func (r *rank) line() string {
	text, err := r.out.ReadString('\n')
	require.NoError(r.t, err, "rank's errors: %s", r.errs)
	return strings.TrimSpace(text)
}

// wait waits for the end of a rank and of all processes that have its output: the daemon, if the
// rank has started that.
func (r *rank) wait() *rank {
	rest, _ := io.ReadAll(r.out)
	r.rest = string(rest)
	_ = r.Wait()
	r.code = r.ProcessState.ExitCode()
	return r
}

// startAll starts all ranks.
func (s step) startAll(program string, env ...string) (all []*rank) {
	for number := range s.size {
		all = append(all, s.start(program, number, env...))
	}
	return all
}

// daemons returns the daemons of the step.
func (s step) daemons() (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, path := range paths {
		name, _ := os.ReadFile(path)
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if string(name) == "goulfm-daemon\n" && strings.Contains(string(env), "SLURM_CLUSTER_NAME="+s.cluster+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}
