package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// heatResult is the last line of the example heat, with deaths and without.
const heatResult = "result: steps=968 residual=0x1.0622850ad9cp-12 checksum=c3b43d7a35bf283b\n"

// TestNodes: programs have the same output on several nodes as on one, with the same codes and
// messages.
func TestNodes(t *testing.T) {
	heat := build(t, "../../examples/byhand/heat")
	for i, c := range []struct {
		args, program string
		code          int
		out, err      string // regular expressions
	}{
		{"--host 2", "PROG ring", 0, `^sum 1\n$`, `^$`},
		{"--host 3 --ppn 2", "PROG ring", 0, `^sum 15\n$`, `^$`},
		{"--host 3 --ppn 2 -n 4", "PROG ring", 0, `^sum 6\n$`, `^$`},
		{"--host localhost:3,127.0.0.1:1", "PROG ring", 0, `^sum 6\n$`, `^$`},
		{"--host 3 --ppn 2 --secure tls", "PROG ring", 0, `^sum 15\n$`, `^$`},
		{"--host 2 --secure none", "PROG ring", 2, ``, `want tls or auth`},
		{"--host 4 --ppn 2 --secure tls", "HEAT", 0, regexp.QuoteMeta(heatResult), `^$`},
		{"--host 4 --ppn 2", "HEAT", 0, regexp.QuoteMeta(heatResult), `^$`},
		{"--host 3 --ppn 2 --kill 2@step=1 --kill 5@step=1", "PROG recover", 0, `survivors \[0 1 3 4\]\n(?s).*sum 6\n`, `4 of 6 ranks finished`},
		{"--host 2", "PROG error", 1, ``, `rank 1 failed: exit code 1`},
		{"--host 3", "PROG panic", 2, `rank 0: recv on world from rank 1: process failed`, `panic: boom`},
		{"--host 3", "PROG abort", 9, ``, `the job was stopped \(code 9\)`},
		{"--host 2", "/no/such/program", 127, ``, `no such program`},
		{"--host 2 -n 3", "PROG ring", 2, ``, `the 2 nodes take 2 ranks: more slots`},
		{"--host a:0", "PROG ring", 2, ``, `--host`},
		{"--ppn 2", "PROG ring", 2, ``, `--ppn: name the nodes of the job with --host or --hostfile`},
		{"--host 2 --kill node2@1s", "PROG ring", 2, ``, `there are nodes 0 to 1`},
		{"--host 2 --kill node2@step=1", "PROG ring", 2, ``, `there are nodes 0 to 1`},
		{"--host 2 --kill node1@=1", "PROG ring", 2, ``, `bad point "=1"`},
		{"--host 2 --kill node1@step=1 --survive-launcher --output-dir .", "PROG ring", 2, ``, `not with --survive-launcher`},
		{"-n 2 --kill node1@step=1", "PROG ring", 2, ``, `name the nodes of the job with --host`},
		{"--host 2 --detector exact", "PROG ring", 0, `^sum 1\n$`, `^$`},
		{"--host 2 --detector ring", "PROG ring", 2, ``, `leave them out with --host`},
		{"--host 2 --stop node2@1s+1s", "PROG ring", 2, ``, `--stop node2@...: there are nodes 0 to 1`},
		{"--host 2 --cut 0/2@1s+1s", "PROG ring", 2, ``, `there are nodes 0 to 1, and the launcher`},
		{"--host 2 --cut 0/0@1s+1s", "PROG ring", 2, ``, `0 is on two sides`},
		{"--host 2 --cut 0/1@1s", "PROG ring", 2, ``, `want groups of nodes and times`},
		{"--host 2 --cut 0@1s+1s", "PROG ring", 2, ``, `want groups of nodes and times`},
		{"-n 2 --cut 0/1@1s+1s", "PROG ring", 2, ``, `it takes nodes of this machine`},
		{"--host 2 --cut 0/1@1s+1s --kill launcher@1s", "PROG ring", 2, ``, `try one at a time`},
		{"--host 2 --survive-launcher", "PROG ring", 2, ``, `name with --output-dir the folder for the output`},
		{"--host 1 --survive-launcher --output-dir .", "PROG ring", 2, ``, `have 2 nodes or more`},
		{"--survive-launcher", "PROG ring", 2, ``, `name the nodes of the job with --host or --hostfile`},
		{"-n 2 --kill launcher@1s", "PROG ring", 2, ``, `on one machine nothing is left without it`},
		{"--host 2 --stop node1@1s", "PROG ring", 2, ``, `want nodeN@DURATION\+DURATION`},
		{"--host 4 --ppn 2 --detection 10s", "HEAT", 0, regexp.QuoteMeta(heatResult), `^$`},
		{"--host 2 --detection 300ms", "PROG ring", 2, ``, `suspects after 270ms, want at least the timeout of 500ms`},
		{"--host 2 --detection 1s --confirm 1s", "PROG ring", 2, ``, `leave one of them out`},
		{"--detection 1s", "PROG ring", 2, ``, `--detection: name the nodes of the job with --host or --hostfile`},
		{"--host 2 --period 1ms", "PROG ring", 2, ``, `timeout 5ms, want at least 10ms`},
		{"--host 2 --launcher pigeon", "PROG ring", 2, ``, `want local, ssh or slurm`},
		{"--host 2 --daemon-path /no/such/goulfm", "PROG ring", 3, ``, `node 0 \(local0\): .*no such file`},
		{"--host 2 --daemon-path /bin/false", "PROG ring", 3, ``, `node \d \(local\d\): its daemon could not start`},
	} {
		if !longtest.Row(i, 4) {
			continue
		}
		program := strings.NewReplacer("PROG", prog, "HEAT", heat).Replace(c.program)
		got := goulfmCommand(t, "", append(append([]string{"run"}, strings.Fields(c.args)...), strings.Fields(program)...)...)
		assert.Equal(t, c.code, got.code, "%s %s\n%s%s", c.args, c.program, got.out, got.err)
		assert.Regexp(t, c.out, got.out, "%s %s", c.args, c.program)
		assert.Regexp(t, c.err, got.err, "%s %s", c.args, c.program)
	}
}

// TestANodeIsKilled: all ranks of the killed node are lost, and the others compute the same result.
func TestANodeIsKilled(t *testing.T) {
	heat := build(t, "../../examples/byhand/heat")
	got := goulfmCommand(t, "", "run", "--host", "4", "--ppn", "2", "--kill", "node2@step=200", heat, "-steps", "100000")
	assert.Equal(t, 0, got.code, got.err)
	assert.Contains(t, got.out, heatResult)
	assert.Contains(t, got.err, "node 2 (local2) is lost")
	assert.Regexp(t, `found (\S+ ms after )?by its node, which is lost`, got.err)
	assert.Contains(t, got.err, "6 of 8 ranks finished, 2 ranks lost; exit code 0")
}

// TestTimeoutOfNodes: the report of --timeout has the waiting ranks of all nodes.
func TestTimeoutOfNodes(t *testing.T) {
	says := func(got result) bool {
		return regexp.MustCompile(`waiting ranks, after --timeout (?s).*rank 1: `).MatchString(got.err)
	}
	got := outOfTime(t, says, "--host", "2", prog, "cancel")
	assert.Equal(t, 124, got.code)
	assert.True(t, says(got), got.err)
}

// TestWindowsThatHang: the report has a line for each wait in a window, with the holder of a lock.
// Two locks in opposite order are reported as a cycle.
func TestWindowsThatHang(t *testing.T) {
	var lines []*regexp.Regexp
	for rank, want := range []string{"lock on .* waits for ranks? 1\\b", "lock on .* waits for ranks? 0\\b", "wait on .* waits for ranks 0,1",
		"wait_notify on .* waits for any rank", "start on .* waits for ranks 2,5", "barrier on .*"} {
		lines = append(lines, regexp.MustCompile(fmt.Sprintf(`  rank %d: %s.*windows\.go:\d+`, rank, want)))
	}
	lines = append(lines, regexp.MustCompile(`they wait for each other: rank 0 \(lock on `))
	lacks := func(got result) []*regexp.Regexp {
		return slices.DeleteFunc(slices.Clone(lines), func(line *regexp.Regexp) bool { return line.MatchString(got.err) })
	}
	for _, where := range []string{"-n 6", "--host 2 --ppn 3"} {
		got := outOfTime(t, func(got result) bool { return len(lacks(got)) == 0 }, append(strings.Fields(where), prog, "windows-hang")...)
		assert.Equal(t, 124, got.code)
		assert.Empty(t, lacks(got), "%s\n%s", where, got.err)
	}
}

// TestANodeStandsStill: a node that is stopped for longer than the detection timeout is declared
// dead, and none of its ranks runs afterwards. A shorter stop kills no rank. Each job lasts until
// its case has happened.
func TestANodeStandsStill(t *testing.T) {
	for i, stop := range []string{"--timeout-factor 5 --stop node1@100ms+60s", "--detection 1s --stop node1@100ms+60s"} {
		t.Run(stop, func(t *testing.T) {
			if i > 0 {
				longtest.Skip(t, "waits until a silent node is declared dead")
			}
			t.Parallel() // they wait, most of the time
			got := goulfmCommand(t, "", append(append([]string{"run", "--host", "4", "--ppn", "2"}, strings.Fields(stop)...), prog, "until-few", "6")...)
			assert.Equal(t, 0, got.code, got.err)
			assert.Equal(t, "survivors [0 1 4 5 6 7]\nsum 15\n", got.out)
			assert.Contains(t, got.err, "node 1 (local1) is lost: neither the launcher nor its neighbour hears of it")
			assert.Contains(t, got.err, "6 of 8 ranks finished, 2 ranks lost; exit code 0")
		})
	}
	t.Run("for less", func(t *testing.T) {
		t.Parallel()
		got := untilSaid(t, "node 1 goes on", "--host", "4", "--ppn", "2", "--timeout-factor", "50", "--stop", "node1@10ms+300ms", prog, "until-input-ends")
		assert.Equal(t, 0, got.code, got.err)
		assert.Equal(t, "all tokens came round\n", got.out)
		assert.Contains(t, got.err, "node 1 goes on")
		assert.NotContains(t, got.err, "is lost")
	})
}

// TestRacksOfAHostFile: the ring is launcher, 1, 3, 0, 2, so that the launcher observes node 2. In
// the order of the hosts the launcher would observe node 3. Ranks still fill the hosts in the order
// of the file.
func TestRacksOfAHostFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(file, []byte("local0 slots=2 rack=a\nlocal1 slots=2 rack=a\nlocal2 slots=2 rack=b\nlocal3 slots=2 rack=b\n"), 0o600))
	got := goulfmCommand(t, "", "run", "--hostfile", file, "--launcher", "local", "--timeout-factor", "5", "--stop", "node2@100ms+60s", prog, "until-few", "6")
	assert.Equal(t, 0, got.code, got.err)
	assert.Equal(t, "survivors [0 1 2 3 6 7]\nsum 15\n", got.out)
	assert.Contains(t, got.err, "node 2 (local2): not heard for ")
	assert.Contains(t, got.err, "6 of 8 ranks finished, 2 ranks lost; exit code 0")
}

// TestTheNetworkIsCut: the launcher's side of a cut completes with the right result, and no process
// of the other side is left. A cut that is shorter than the detection timeout, and a cut of a
// single direction, kill no rank. Each job lasts until its case has happened.
func TestTheNetworkIsCut(t *testing.T) {
	longtest.Skip(t, "waits until silent nodes are declared dead")
	for _, c := range []struct{ cut, few, out, want string }{
		{"0,1/2,3@100ms+60s", "4", "survivors [0 1 2 3]\nsum 6\n", "4 of 8 ranks finished, 4 ranks lost; exit code 0"},
		{"launcher,1/0@100ms+60s", "6", "survivors [2 3 4 5 6 7]\nsum 15\n", "6 of 8 ranks finished, 2 ranks lost; exit code 0"},
	} {
		t.Run(c.cut, func(t *testing.T) {
			t.Parallel() // they wait, most of the time
			got := goulfmCommand(t, "", "run", "--host", "4", "--ppn", "2", "--timeout-factor", "10", "--orphan-after", "25s", "--cut", c.cut, prog, "until-few", c.few)
			assert.Equal(t, 0, got.code, got.err)
			assert.Equal(t, c.out, got.out, got.err)
			assert.Contains(t, got.err, "the network is cut as planned")
			assert.Contains(t, got.err, c.want)
		})
	}
	for _, cut := range []string{"0,1/2,3@10ms+300ms", "0>2@10ms+300ms"} {
		t.Run(cut, func(t *testing.T) {
			t.Parallel() // they wait, most of the time
			got := untilSaid(t, "the network is whole again", "--host", "4", "--ppn", "2", "--timeout-factor", "50", "--cut", cut, prog, "until-input-ends")
			assert.Equal(t, 0, got.code, got.err)
			assert.Equal(t, "all tokens came round\n", got.out)
			assert.Contains(t, got.err, "the network is whole again")
			assert.NotContains(t, got.err, "is lost")
		})
	}
}

// TestNodesThatCannotMeet: two nodes live, and their processes cannot connect to each other. After
// --link-timeout one of the two nodes is declared lost, and the others complete the job.
func TestNodesThatCannotMeet(t *testing.T) {
	longtest.Skip(t, "waits for a second without a connection, and for --link-timeout")
	heat := build(t, "../../examples/heat")
	alone := goulfmCommand(t, "", "run", "-n", "3", heat, "-steps", "40")
	require.Zero(t, alone.code, alone.err)
	got := goulfmCommand(t, "", "run", "--host", "3", "--ppn", "1", "--timeout-factor", "50", "--orphan-after", "25s", "--link-timeout", "6s",
		"--cut", "1>2@0s+60s", "--cut", "2>1@0s+60s", heat, "-steps", "40")
	assert.Zero(t, got.code, got.err)
	assert.Equal(t, alone.out, got.out)
	assert.Contains(t, got.err, "node 1 does not reach node 2 at 127.0.0.1:")
	assert.Contains(t, got.err, "node 2 (local2) is lost: it and node 1 (local1) cannot reach each other: open the ports between them, or raise --link-timeout")
	assert.Contains(t, got.err, "3 of 4 ranks finished, 1 rank lost; exit code 0")
}

// pidsOf reads the numbers that n ranks print.
func pidsOf(t *testing.T, lines *bufio.Scanner, n int) (pids []int) {
	for len(pids) < n && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// awaitStopped waits until a process is stopped or, if so is false, is not stopped.
func awaitStopped(t *testing.T, pid int, so bool) {
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		require.NoError(t, err)
		if is := bytes.Contains(stat, []byte(") T ")); is == so {
			return
		}
		require.True(t, time.Now().Before(limit), "process %d: %s", pid, stat)
	}
}

// TestTheLauncherOfNodesIsPaused: after SIGSTOP to the launcher, the nodes freeze when their leases
// expire, and continue with the launcher. After SIGTSTP, as from a terminal, the launcher announces
// its stop: the nodes freeze at once, and wait for the launcher without a limit.
func TestTheLauncherOfNodesIsPaused(t *testing.T) {
	longtest.Skip(t, "waits while a launcher is stopped")
	for _, c := range []struct {
		sig    syscall.Signal
		orphan string
	}{{syscall.SIGSTOP, "30s"}, {syscall.SIGTSTP, "2s"}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			t.Parallel() // they wait, most of the time
			cmd, lines, errs := start(t, "run", "--host", "2", "--ppn", "2", "--timeout-factor", "10", "--orphan-after", c.orphan, prog, "pid-cancel")
			pids := pidsOf(t, lines, 4)
			require.NoError(t, cmd.Process.Signal(c.sig))
			for _, pid := range append(pids, cmd.Process.Pid) {
				awaitStopped(t, pid, true)
			}
			launcher, err := unix.PidfdOpen(cmd.Process.Pid, 0)
			require.NoError(t, err)
			ended, err := 0, error(unix.EINTR)
			for err == unix.EINTR {
				ended, err = unix.Poll([]unix.PollFd{{Fd: int32(launcher), Events: unix.POLLIN}}, 2500)
			}
			assert.Zero(t, ended, "it stands still for longer than a lease lasts, and than who has no launcher waits")
			unix.Close(launcher)
			require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
			for _, pid := range pids {
				awaitStopped(t, pid, false)
			}
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			cancelled := 0
			for lines.Scan() {
				cancelled++
			}
			_ = cmd.Wait()
			assert.Equal(t, 4, cancelled, errs)
			assert.NotContains(t, errs.String(), "is lost")
		})
	}
}

// TestSpawnOnNodes: the new processes are on several nodes, also on nodes that had no process
// before.
func TestSpawnOnNodes(t *testing.T) {
	for _, c := range []struct {
		args   string
		n, sum int
	}{{"--host 2 --ppn 2", 4, 10}, {"--host 3 -n 1", 1, 1}} {
		got := goulfmCommand(t, "", append(append([]string{"run"}, strings.Fields(c.args)...), prog, "spawn")...)
		assert.Equal(t, 0, got.code, got.err)
		for rank := range 2 {
			assert.Contains(t, got.out, fmt.Sprintf("new %d of 2 beside %d, spawned true, argument, here: sum %d\n", rank, c.n, c.sum))
		}
	}
}

// TestARevocationOutlivesItsRevoker: the revoker has no connection to any rank yet, and is killed
// before the first one is established. All others still learn of the revocation.
func TestARevocationOutlivesItsRevoker(t *testing.T) {
	for _, args := range []string{"--host 4 --ppn 1", "--host 2 --ppn 3 --secure tls"} {
		got := goulfmCommand(t, "", append(append([]string{"run", "--timeout", "60s"}, strings.Fields(args)...), prog, "revoke")...)
		assert.Equal(t, 0, got.code, "%s: %s", args, got.err)
		for rank := range strings.Count(got.out, "\n") {
			assert.Contains(t, got.out, fmt.Sprintf("rank %d: revoked\n", rank), args)
		}
		assert.Contains(t, []int{3, 5}, strings.Count(got.out, "revoked"), args)
	}
}

// TestOneGoroutineSleepsInAReceive: one goroutine of a process sleeps in a receive, while another
// locks and unlocks a window of another node. The requests of the second goroutine are written
// although the leader of the progress loop sleeps.
func TestOneGoroutineSleepsInAReceive(t *testing.T) {
	for range 3 {
		got := goulfmCommand(t, "", "run", "--host", "2", "--ppn", "1", "--timeout", "60s", prog, "lock-beside")
		assert.Equal(t, 0, got.code, got.err)
		assert.Equal(t, "counted 40\n", got.out)
	}
}

// TestAnotherGoroutineWaits: one goroutine waits for the answer of a rank on another node, while
// another goroutine sends to that rank: 8 MiB, which is more than may be in flight at a time, or
// short messages, which wait to be batched. The waiting goroutine reads the sockets, and leaves no
// frame unsent.
func TestAnotherGoroutineWaits(t *testing.T) {
	for _, mode := range []string{"send-beside", "gather-beside"} {
		got := goulfmCommand(t, "", "run", "--host", "2", "--ppn", "1", "--timeout", "60s", "-x", "GOULFM_SPIN=1", prog, mode)
		assert.Equal(t, 0, got.code, "%s: %s", mode, got.err)
	}
}

// TestSlotsOfNodesAreUsedAgain: in each of 30 rounds a process on one of two nodes dies and is
// replaced. In total these are more processes than the job can have at a time.
func TestSlotsOfNodesAreUsedAgain(t *testing.T) {
	longtest.Skip(t, "repeats deaths and replacements")
	endure := build(t, "../../stress/endure")
	for seed := range 3 {
		got := goulfmCommand(t, "", "run", "-q", "--host", "2", "--ppn", "2", "--universe", "12", endure, "replace", "-rank", "-n", "4", "-rounds", "30", "-seed", fmt.Sprint(seed+1))
		assert.Equal(t, 0, got.code, "seed %d: %s", seed+1, got.err)
		assert.Regexp(t, `^replace: 30 rounds; .*\n$`, got.out)
	}
}

// TestRemoteShell: the launcher starts daemons by a command that gets a host and the command to run
// there.
func TestRemoteShell(t *testing.T) {
	dir := t.TempDir()
	rsh, told := filepath.Join(dir, "rsh"), filepath.Join(dir, "told")
	require.NoError(t, os.WriteFile(rsh, []byte("#!/bin/sh\necho \"$1\" >> "+told+"\nshift\nexec sh -c \"$*\"\n"), 0o700))
	got := goulfmCommand(t, "", "run", "--rsh", rsh, "--host", "someone@first,second", prog, "ring")
	assert.Equal(t, result{0, "sum 1\n", ""}, got)
	hosts, err := os.ReadFile(told)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"someone@first", "second"}, strings.Fields(string(hosts)))

	// A Go package is built on this machine alone, and sent.
	got = goulfmCommand(t, "", "run", "--rsh", rsh, "--host", "first,second", "./testdata/prog", "ring")
	assert.Equal(t, result{0, "sum 1\n", ""}, got)

	require.NoError(t, os.WriteFile(rsh, []byte("#!/bin/sh\necho \"no route to $1\" >&2\nexit 255\n"), 0o700))
	got = goulfmCommand(t, "", "run", "--rsh", rsh, "--host", "first", prog, "ring")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.err, "node 0 (first): its daemon could not start: no route to first")
}

// TestInputOfNodes: in a job on several nodes, standard input is forwarded to rank 0 completely.
func TestInputOfNodes(t *testing.T) {
	text := strings.Repeat("a line of input\n", 10_000) // more than a pipe holds
	got := goulfmCommand(t, text, "run", "--host", "2", "-q", "sh", "-c", "cat")
	assert.Equal(t, result{0, text, ""}, got)
}

// TestSignalsOfNodes: the launcher forwards a signal to the ranks of all nodes.
func TestSignalsOfNodes(t *testing.T) {
	cmd, lines, errs := start(t, "run", "--host", "3", prog, "cancel")
	counts := map[string]int{}
	for lines.Scan() {
		if counts[lines.Text()]++; lines.Text() == "ready" && counts["ready"] == 3 {
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		}
	}
	_ = cmd.Wait()
	assert.Equal(t, 3, counts["cancelled"], errs)
	assert.Equal(t, 128+int(syscall.SIGTERM), cmd.ProcessState.ExitCode())
}

// TestNothingOfNodesSurvivesTheLauncher: the launcher of several nodes is killed, and all ranks end
// by themselves.
func TestNothingOfNodesSurvivesTheLauncher(t *testing.T) {
	cmd, lines, _ := start(t, "run", "--host", "2", "--ppn", "2", prog, "pid")
	var fds []unix.PollFd
	for len(fds) < 4 && lines.Scan() {
		var pid int
		_, err := fmt.Sscan(lines.Text(), &pid)
		require.NoError(t, err)
		fd, err := unix.PidfdOpen(pid, 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	awaitEnds(t, fds)
}
