package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/examples/plate"
	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/parallel"
)

// heat is the parallel service and the launcher of its jobs, built once.
var heat = sync.OnceValue(func() string {
	built() // makes the folder
	for binary, pkg := range map[string]string{"heat": "../../examples/heat", "goulfm": "../../../cmd/goulfm"} {
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(toRemove, binary), ".")
		cmd.Dir = pkg
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(string(out))
		}
	}
	return filepath.Join(toRemove, "heat")
})

// startHeat starts a platform with the heat service and arguments of the program.
func startHeat(t *testing.T, args ...string) *trial {
	program := heat()
	t.Setenv(parallel.EnvGoulfm, filepath.Join(toRemove, "goulfm"))
	p := newTrial(t)
	p.start(append([]string{program}, args...), "--tree", "1x2", "--no-restart")
	return p
}

// plateOf and cooled are the request and reply of the heat service.
type plateOf struct{ NX, NY, Steps int }

type cooled struct {
	Checksum    string
	From, Ranks int
}

// childrenOf returns the processes that a process has started.
func childrenOf(t *testing.T, parent int) (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range all {
		text, _ := os.ReadFile(path) // it may have ended
		var pid, ppid int
		var state string
		_, rest, _ := strings.Cut(string(text), ") ")
		_, err1 := fmt.Sscanf(string(text), "%d", &pid)
		_, err2 := fmt.Sscanf(rest, "%s %d", &state, &ppid)
		if err1 == nil && err2 == nil && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processes are the processes of a job: the launcher is the parent of the ranks, or of the daemons
// of several nodes, which are the parents of the ranks.
type processes struct {
	launcher int
	daemons  []int
	ranks    []int // with a daemon for each, in the same order
}

func (j processes) all() []int { return slices.Concat([]int{j.launcher}, j.daemons, j.ranks) }

// job returns the processes of the only job of a server.
func (p *trial) job(server string, several bool) (j processes) {
	pid := p.eventLog.PID(server)
	launchers := childrenOf(p.t, pid)
	if !assert.Len(p.t, launchers, 1) {
		return j
	}
	j.launcher = launchers[0]
	if !several {
		j.ranks = childrenOf(p.t, j.launcher)
		return j
	}
	j.daemons = childrenOf(p.t, j.launcher)
	for _, d := range j.daemons {
		j.ranks = append(j.ranks, childrenOf(p.t, d)...)
	}
	return j
}

// allGone reports whether all of these processes have ended.
func allGone(pids []int) bool {
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			return false
		}
	}
	return true
}

// ordeal disturbs the first attempt of a job. It kills a rank, or the daemon of its node. When
// another process has its place and there is a checkpoint, it stops the ranks, so that the job does
// not end before, and kills the server.
type ordeal struct {
	p            *trial
	several      bool  // the job has a node for each rank: the daemon is killed
	first        []int // ranks at first, the second of which is lost
	mended       bool
	checkpointed bool
	ended        []int // all of the job when its server was killed
	at           float64
}

func (o *ordeal) signal(s syscall.Signal, pids ...int) {
	for _, pid := range pids {
		assert.NoError(o.p.t, syscall.Kill(pid, s))
	}
}

func (o *ordeal) hear(e gridrpc.Event) {
	if e.Attempt > 1 || len(o.ended) > 0 {
		return
	}
	switch {
	case e.What == gridrpc.Checkpointed:
		o.checkpointed = true
	case e.What == gridrpc.Progressed && e.Total > 0:
		o.step(e)
	}
	if o.mended && o.checkpointed {
		o.signal(syscall.SIGSTOP, o.p.job(e.Server, o.several).ranks...)
		if o.several {
			o.p.await(") is lost")
		} else {
			o.p.await("died: killed (SIGKILL)") // the lines of the launcher are in the server's log
		}
		o.ended = o.p.job(e.Server, o.several).all()
		o.p.signal(e.Server, syscall.SIGKILL)
	}
}

// step handles a report that the job has made more steps.
func (o *ordeal) step(e gridrpc.Event) {
	j := o.p.job(e.Server, o.several)
	ranks := j.ranks
	switch {
	case o.first == nil && assert.Len(o.p.t, ranks, 3):
		o.first = ranks
		o.signal(syscall.SIGSTOP, ranks...)
		if o.several {
			o.signal(syscall.SIGKILL, j.daemons[1]) // its rank ends with it
		} else {
			o.signal(syscall.SIGKILL, ranks[1])
		}
		o.signal(syscall.SIGCONT, ranks[0], ranks[2])
	case !o.mended && len(ranks) == 3 && !slices.Contains(ranks, o.first[1]):
		o.mended, o.at = true, e.Done // the ranks go on until there is a checkpoint: stopped ones write none
	}
}

// TestJobAsService: a call is a job of three ranks. One of them is killed, the job repairs itself,
// and the attempt continues. Then the server is killed: launcher and ranks end with it, and another
// server continues from the latest version. The plate is equal, bit for bit, to one without deaths.
func TestJobAsService(t *testing.T) {
	o := &ordeal{p: startHeat(t)}
	o.run(t)
	assert.Len(t, o.ended, 4, "launcher and ranks of the first attempt, one of which was replaced")
}

// TestJobOnNodes: the same for a job of three nodes with a rank each. One node is killed, and its
// rank continues on another node from the copy of its rows there. The launcher, the daemons of the
// two nodes and the ranks end with the server.
func TestJobOnNodes(t *testing.T) {
	o := &ordeal{p: startHeat(t, "-hosts", "3"), several: true}
	o.run(t)
	assert.Len(t, o.ended, 6, "launcher, daemons and ranks of the first attempt")
}

// run computes a plate, with all disturbances of its first attempt.
func (o *ordeal) run(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	in := plateOf{NX: 96, NY: 96, Steps: 20000}
	attempts := 0
	watch := gridrpc.Watch(func(e gridrpc.Event) { attempts = max(attempts, e.Attempt); o.hear(e) })
	out, err := gridrpc.Service[plateOf, cooled](o.p.dial(), "heat", gridrpc.InCodec(gridrpc.JSON)).Call(ctx, &in, watch)
	require.NoError(t, err)
	assert.Equal(t, 2, attempts)
	assert.Positive(t, out.From)
	assert.Equal(t, 3, out.Ranks)
	t.Logf("a rank was lost, and then the first server, by step %v; the second one went on from step %d of %d", o.at, out.From, in.Steps)
	_, _, want := plate.Reference(plate.Options{NX: in.NX, NY: in.NY, Steps: in.Steps})
	assert.Equal(t, fmt.Sprintf("%016x", want), out.Checksum)
	require.Eventually(t, func() bool { return allGone(o.ended) }, within, time.Millisecond, "the lost server's job")
}

// TestJobIsStopped: a call that is given up ends its job, and the server has room for others. An
// error of the ranks is an error of the call.
func TestJobIsStopped(t *testing.T) {
	p := startHeat(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	c := p.dial()
	service := gridrpc.Service[plateOf, cooled](c, "heat", gridrpc.InCodec(gridrpc.JSON))
	limited, giveUp := context.WithCancel(ctx)
	var pids []int
	_, err := service.Call(limited, &plateOf{NX: 100, NY: 100, Steps: 1 << 30}, gridrpc.Watch(func(e gridrpc.Event) {
		if e.What == gridrpc.Progressed && e.Total > 0 && len(pids) == 0 {
			pids = p.job(e.Server, false).all()
			giveUp()
		}
	}))
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, pids, 4)
	require.Eventually(t, func() bool { return allGone(pids) }, within, time.Millisecond)
	out, err := service.Call(ctx, &plateOf{NX: 10, NY: 10, Steps: 10})
	require.NoError(t, err)
	_, _, want := plate.Reference(plate.Options{NX: 10, NY: 10, Steps: 10})
	assert.Equal(t, fmt.Sprintf("%016x", want), out.Checksum)
	_, err = service.Call(ctx, &plateOf{NX: 10, NY: 1, Steps: 10})
	require.ErrorIs(t, err, gridrpc.ErrService)
	assert.ErrorContains(t, err, "exit status 1")
}
