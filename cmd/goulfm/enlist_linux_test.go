package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// A daemonTask is a goulfm daemon with a program, started as by an engine.
type daemonTask struct {
	cmd       *exec.Cmd
	out, errs bytes.Buffer
}

// startDaemons starts a daemon on each node of a simulated Slurm step. All nodes are this machine,
// and the daemons authenticate by a secret in a file.
func startDaemons(t *testing.T, nodes int, args ...string) (all []*daemonTask) {
	t.Helper()
	return startSomeDaemons(t, nodes, nodes, args...)
}

// startSomeDaemons is startDaemons, but only the first nodes, as many as some, have a daemon.
func startSomeDaemons(t *testing.T, some, nodes int, args ...string) (all []*daemonTask) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("sixteen bytes, at least"), 0o600))
	meet := meetingPlace()
	for node := range some {
		d := &daemonTask{cmd: limited(t, goulfm, slices.Concat([]string{"daemon"}, patience, args)...)}
		d.cmd.Env = append(os.Environ(), "SLURM_CLUSTER_NAME="+t.Name(), "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", fmt.Sprintf("SLURM_STEP_NUM_TASKS=%d", nodes),
			fmt.Sprintf("SLURM_PROCID=%d", node), "SLURM_LOCALID=0", fmt.Sprintf("SLURM_NODEID=%d", node), fmt.Sprintf("SLURM_STEP_NUM_NODES=%d", nodes), fmt.Sprintf("SLURM_GTIDS=%d", node),
			"GOULFM_SECRET_FILE="+file, "GOULFM_RENDEZVOUS="+meet)
		d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.errs
		require.NoError(t, d.cmd.Start())
		all = append(all, d)
	}
	return all
}

var meetings atomic.Int32

// meetingPlace returns an address at which no process listens yet. The port is below the range of
// ephemeral ports: a port from that range could belong to another process by the time its daemon
// starts.
func meetingPlace() string {
	for {
		addr := fmt.Sprint("127.0.0.1:", 10_000+(os.Getpid()*37+int(meetings.Add(1)))%10_000)
		if ln, err := net.Listen("tcp", addr); err == nil {
			ln.Close()
			return addr
		}
	}
}

// codes waits until all daemons have ended, and returns their exit codes.
func codes(all []*daemonTask) (codes []int) {
	for _, d := range all {
		_ = d.cmd.Wait()
		codes = append(codes, d.cmd.ProcessState.ExitCode())
	}
	return codes
}

// TestDaemonsOfAnEngine: the first daemon is the launcher, and all daemons are nodes. A node is
// killed, and its ranks are replaced on others.
func TestDaemonsOfAnEngine(t *testing.T) {
	longtest.Skip(t, "two jobs of several daemons")
	heat := build(t, "../../examples/heat")
	all := startDaemons(t, 3, "--ppn", "2", "--", heat)
	assert.Equal(t, []int{0, 0, 0}, codes(all), all[0].errs.String())
	result := lastLine(all[0].out.String())
	assert.Contains(t, result, "checksum=")
	assert.Empty(t, all[1].out.String()+all[1].errs.String()+all[2].out.String()+all[2].errs.String())

	all = startDaemons(t, 3, "--ppn", "2", "--kill", "node1@step=20", "--", heat)
	assert.Equal(t, []int{0, -1, 0}, codes(all), all[0].errs.String())
	assert.Equal(t, result, lastLine(all[0].out.String()))
	assert.Contains(t, all[0].errs.String(), "6 of 8 ranks finished, 2 ranks lost; exit code 0")
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// pod returns the daemon of a pod of an indexed Job, with two ranks. The daemon is not started.
func pod(t *testing.T, index, nodes int, env []string, program ...string) *daemonTask {
	d := &daemonTask{cmd: limited(t, goulfm, slices.Concat([]string{"daemon"}, patience, []string{"--ppn", "2", "--start-timeout", "30s", "--"}, program)...)}
	d.cmd.Env = append(append(os.Environ(), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index), fmt.Sprintf("GOULFM_NODES=%d", nodes), "GOULFM_JOB="+t.Name(), fmt.Sprintf("HOSTNAME=heat-%d", index), "GOULFM_SERVICE=heat"), env...)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.errs
	return d
}

// startWorld starts pods, and waits until both ranks of each pod have printed ready.
func startWorld(t *testing.T, pods []*daemonTask) {
	t.Helper()
	pods[0].cmd.Stdout = nil
	output, err := pods[0].cmd.StdoutPipe()
	require.NoError(t, err)
	for _, d := range pods {
		require.NoError(t, d.cmd.Start())
	}
	_, err = io.ReadFull(output, make([]byte, 2*len(pods)*len("ready\n")))
	require.NoError(t, err, "all ranks run")
}

// secretOfPods returns the variables by which the pods authenticate and find each other: there is
// no DNS here.
func secretOfPods(t *testing.T) []string {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("sixteen bytes, at least"), 0o600))
	return []string{"GOULFM_SECRET_FILE=" + file, "GOULFM_RENDEZVOUS=" + meetingPlace()}
}

// listening reads a stream of a process line by line, and keeps all lines for error messages.
type listening struct {
	t   *testing.T
	in  *bufio.Reader
	all strings.Builder
}

// listenTo connects the test to the standard error or the standard output of a process that is not
// started yet.
func listenTo(t *testing.T, pipe func() (io.ReadCloser, error)) *listening {
	stream, err := pipe()
	require.NoError(t, err)
	return &listening{t: t, in: bufio.NewReader(stream)}
}

// await reads up to the first line that contains a text, and returns this line.
func (l *listening) await(text string) string {
	l.t.Helper()
	for {
		line, err := l.in.ReadString('\n')
		l.all.WriteString(line)
		require.NoError(l.t, err, "no %q in %s", text, l.all.String())
		if strings.Contains(line, text) {
			return line
		}
	}
}

// TestPodsComeLate: a pod of an enlarged Job, and pods that replace lost pods, are nodes: processes
// that are spawned later run there, and reach all others. Some of these processes have slots that
// other processes had before.
func TestPodsComeLate(t *testing.T) {
	longtest.Skip(t, "several jobs of pods")
	pipe := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	lines, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	defer lines.Close()
	secret := append(secretOfPods(t), "GOULFM_NODES_MAX=4")
	var world []*daemonTask
	for i := range 2 {
		world = append(world, pod(t, i, 2, secret, prog, "spawn-told", pipe))
	}
	world[0].cmd.Stdout, world[0].cmd.Stderr = nil, nil
	out, errs := listenTo(t, world[0].cmd.StdoutPipe), listenTo(t, world[0].cmd.StderrPipe)
	for _, d := range world {
		require.NoError(t, d.cmd.Start())
	}
	for range 4 {
		out.await("ready")
	}
	spawn := func() (daemon string) {
		_, err := lines.WriteString("more\n")
		require.NoError(t, err)
		errs.await("starts 2 ranks of")
		return strings.TrimSpace(out.await("new, of"))
	}
	spawn()
	spawn() // in the slots of the processes before
	come := func(index int) *daemonTask {
		d := pod(t, index, 2, secret, prog, "spawn-told", pipe)
		require.NoError(t, d.cmd.Start())
		errs.await("has come: 2 ranks can be started there")
		return d
	}
	larger := come(3)
	assert.Equal(t, fmt.Sprint("new, of ", larger.cmd.Process.Pid), spawn(), "where nobody is yet")
	require.NoError(t, larger.cmd.Process.Kill())
	errs.await("is lost")
	again := come(3)
	assert.Equal(t, fmt.Sprint("new, of ", again.cmd.Process.Pid), spawn())
	spawn() // also in slots of processes before, about which the next node is informed
	third := come(2)
	_, err = lines.WriteString("more\n")
	require.NoError(t, err)
	out.await("new, of")
	require.NoError(t, lines.Close())
	rest, err := io.ReadAll(errs.in)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 0, 0, 0}, codes(append(world, again, third)), "%s%s", &errs.all, rest)
	assert.Equal(t, []int{-1}, codes([]*daemonTask{larger}))
	assert.Empty(t, again.errs.String()+third.errs.String()+world[1].errs.String())
}

// TestPodsOnStandby: without a free node slot, a pod that replaces a lost pod, and a pod of an
// enlarged Job, wait for the end of the job and end with its code.
func TestPodsOnStandby(t *testing.T) {
	longtest.Skip(t, "several jobs of pods")
	for _, code := range []int{0, 143} {
		pipe := filepath.Join(t.TempDir(), "input")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		input, err := os.OpenFile(pipe, os.O_RDWR, 0)
		require.NoError(t, err)
		program, secret := []string{prog, "read", pipe}, secretOfPods(t)
		world := []*daemonTask{pod(t, 0, 3, secret, program...), pod(t, 1, 3, secret, program...), pod(t, 2, 3, secret, program...)}
		world[0].cmd.Stderr = nil
		errs := listenTo(t, world[0].cmd.StderrPipe)
		startWorld(t, world)
		for range 3 { // as many node slots as there were nodes
			require.NoError(t, world[len(world)-1].cmd.Process.Kill())
			errs.await("is lost")
			again := pod(t, 2, 3, secret, program...)
			require.NoError(t, again.cmd.Start())
			errs.await("has come")
			world = append(world, again)
		}
		standby := func(index int) *daemonTask {
			d := pod(t, index, 3, append(secret, "GOULFM_NODES_MAX=5"), program...)
			d.cmd.Stderr = nil
			said := listenTo(t, d.cmd.StderrPipe)
			require.NoError(t, d.cmd.Start())
			said.await("the world has begun without this node")
			return d
		}
		larger, one := standby(4), standby(2)
		if code > 0 {
			require.NoError(t, world[0].cmd.Process.Signal(syscall.SIGTERM))
			errs.await("exit code 143")
		}
		require.NoError(t, input.Close())
		rest, err := io.ReadAll(errs.in)
		require.NoError(t, err)
		assert.Equal(t, []int{code, code, code}, codes([]*daemonTask{world[0], larger, one}), "%s%s", &errs.all, rest)
		codes(world[1:])
	}
}

// TestPodIsWantedBack: SIGTERM to a pod ends its ranks before its grace period is over, and the job
// continues. SIGTERM to the first pod ends the job.
func TestPodIsWantedBack(t *testing.T) {
	longtest.Skip(t, "several jobs of pods")
	start := func() (world []*daemonTask, input io.Closer) {
		pipe := filepath.Join(t.TempDir(), "input")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		input, err := os.OpenFile(pipe, os.O_RDWR, 0)
		require.NoError(t, err)
		secret := append(secretOfPods(t), "GOULFM_GRACE=1s")
		for i := range 3 {
			world = append(world, pod(t, i, 3, secret, prog, "read", pipe))
		}
		startWorld(t, world)
		return world, input
	}
	world, input := start()
	require.NoError(t, world[2].cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, []int{143}, codes(world[2:]))
	require.NoError(t, input.Close())
	assert.Equal(t, []int{0, 0}, codes(world[:2]))
	assert.Contains(t, world[0].errs.String(), "is wanted back by its engine")
	assert.Contains(t, world[0].errs.String(), "killed (SIGKILL)")
	assert.Contains(t, world[0].errs.String(), "4 of 6 ranks finished, 2 ranks lost; exit code 0")

	for _, some := range []int{1, 3} { // if all pods get the signal, the first pod may handle its own last
		world, input = start()
		defer input.Close()
		for _, d := range world[:some] {
			require.NoError(t, d.cmd.Process.Signal(syscall.SIGTERM))
		}
		assert.Equal(t, 143, codes(world)[0])
		if some == 1 {
			assert.NotContains(t, world[0].errs.String(), "is wanted back by its engine")
		}
	}
}

// TestPods: the pods of an indexed Job are nodes.
func TestPods(t *testing.T) {
	longtest.Skip(t, "several jobs of pods")
	heat := build(t, "../../examples/heat")
	start := func(index, nodes int, more ...string) *daemonTask {
		d := pod(t, index, nodes, more, heat)
		require.NoError(t, d.cmd.Start())
		return d
	}
	secret := secretOfPods(t)
	all := []*daemonTask{start(0, 3, secret...), start(1, 3, secret...), start(2, 3, secret...)}
	assert.Equal(t, []int{0, 0, 0}, codes(all), all[0].errs.String())
	assert.Contains(t, all[0].out.String(), "checksum=c3b43d7a35bf283b")

	one := []*daemonTask{start(0, 1)}
	assert.Equal(t, []int{0}, codes(one), one[0].errs.String())
	bare := start(1, 3)
	assert.Equal(t, []int{3}, codes([]*daemonTask{bare}))
	assert.Contains(t, bare.errs.String(), "set GOULFM_SECRET_FILE to where the pods mount one Secret")
}

// TestDaemonsThatCannotMeet: the code is 3 and a line names the reason. On a single node a daemon
// waits for no other daemon.
func TestDaemonsThatCannotMeet(t *testing.T) {
	all := startSomeDaemons(t, 1, 2, "--start-timeout", "1s", "--", prog, "hello")
	assert.Equal(t, []int{3}, codes(all))
	assert.Contains(t, all[0].errs.String(), "of 2 nodes after 1s; missing: ")

	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"daemon --host 2 -- " + prog, 2, "the nodes are theirs"},
		{"daemon --", 2, "no program"},
		{"daemon -h", 0, "usage: goulfm daemon"},
	} {
		got := goulfmCommand(t, "", strings.Fields(c.args)...)
		assert.Equal(t, c.code, got.code, c.args)
		assert.Contains(t, got.out+got.err, c.text)
	}
	heat := build(t, "../../examples/heat")
	got := goulfmCommand(t, "", "daemon", "--ppn", "3", "--", heat)
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, "checksum=")
}
