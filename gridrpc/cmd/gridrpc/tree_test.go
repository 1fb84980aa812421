package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
)

// traffic calls "square" from several goroutines until it is ended.
type traffic struct {
	t    *testing.T
	stop context.CancelFunc
	all  sync.WaitGroup
	mu   sync.Mutex
	n    int
}

func startTraffic(t *testing.T, c *gridrpc.Client) *traffic {
	ctx, stop := context.WithCancel(t.Context())
	w := &traffic{t: t, stop: stop}
	square := gridrpc.Service[float64, where](c, "square")
	for i := range 2 {
		w.all.Go(func() {
			for in := float64(i); ctx.Err() == nil; in++ {
				out, err := square.Call(context.WithoutCancel(ctx), &in)
				if assert.NoError(t, err) {
					assert.Equal(t, in*in, out.Value)
				}
				w.mu.Lock()
				w.n++
				w.mu.Unlock()
			}
		})
	}
	return w
}

func (w *traffic) end() {
	w.stop()
	w.all.Wait()
	w.t.Logf("%d calls meanwhile", w.n)
	assert.NotZero(w.t, w.n)
}

// shape describes a tree in one line, without addresses.
func shape(d gridrpc.Description) string {
	if len(d.Children) == 0 {
		return d.Name
	}
	var below []string
	for _, c := range d.Children {
		below = append(below, shape(c))
	}
	return fmt.Sprintf("%s(%s)", d.Name, strings.Join(below, " "))
}

// TestAgentsKilledTogether: three neighbours in a chain of five are killed at once. The agent below
// them joins the one above, or the root if that one is slow to answer, without a request to the
// oracle. Calls continue.
func TestAgentsKilledTogether(t *testing.T) {
	p := startTrial(t, "--tree", "1x1x1x1x1x2", "--no-restart")
	c := p.dial()
	p.await("s1: has the parent a5")
	p.await("s2: has the parent a5")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	calls := startTraffic(t, c)
	before, err := c.Describe(ctx)
	require.NoError(t, err)
	assert.Contains(t, []string{"ma(a1(a2(a3(a4(a5(s1 s2))))))", "ma(a1(a2(a3(a4(a5(s2 s1))))))"}, shape(before))
	begun := time.Now()
	for _, name := range []string{"a3", "a2", "a4"} {
		p.signal(name, syscall.SIGKILL)
	}
	p.until("a5 to be attached again", func() bool { return strings.Count(p.eventLog.String(), "a5: has the parent") == 2 })
	t.Logf("kill -9 of three to attached: at most %v", time.Since(begun))
	after, err := c.Describe(ctx)
	require.NoError(t, err)
	found := strings.NewReplacer("s2 s1", "s1 s2").Replace(shape(after))
	assert.Contains(t, []string{"ma(a1(a5(s1 s2)))", "ma(a1 a5(s1 s2))"}, found)
	for _, name := range []string{"s1", "s2"} { // each is known through the repaired tree
		square, in := gridrpc.Service[float64, where](c, "square"), 3.0
		for {
			out, err := square.Call(ctx, &in)
			require.NoError(t, err)
			if out.Server == name {
				break
			}
		}
	}
	calls.end()
	assert.NotContains(t, p.told(), "asks who is the root")
}

// TestTheDeadComeBack: restarted agents get their subtrees again, and so does the master.
func TestTheDeadComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes ten seconds until an agent looks for its configured parent")
	}
	p := startTrial(t, "--tree", "2x1x1")
	c := p.dial()
	p.await("s1: has the parent a3")
	p.await("s2: has the parent a4")
	calls := startTraffic(t, c)
	p.signal("ma", syscall.SIGKILL)
	p.signal("a1", syscall.SIGKILL)
	p.signal("a3", syscall.SIGKILL)
	p.until("a1 to be below the new master", func() bool {
		_, later, died := strings.Cut(p.eventLog.String(), "a1 died")
		return died && strings.Contains(later, "a1: has the parent ma")
	})
	p.until("a3 to be at home again", func() bool {
		return strings.Count(p.eventLog.String(), "a3: has the parent a1") >= 2
	})
	p.until("s1 to be at home again", func() bool {
		return strings.Count(p.eventLog.String(), "s1: has the parent a3") >= 2
	})
	calls.end()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	after, err := c.Describe(ctx)
	require.NoError(t, err)
	assert.Contains(t, shape(after), "a1(a3(s1))")
	assert.Contains(t, shape(after), "a2(a4(s2))")
}

// TestDeposedMaster: a master is stopped, and another one is started by hand. Later the first one
// resumes, with a child that did not detect the stop. It learns that it is deposed, and ends its
// links. Then all processes are below the second one.
func TestDeposedMaster(t *testing.T) {
	p := startTrial(t, "--tree", "2x1", "--detect", "1s", "--no-restart")
	for _, text := range []string{"s1: has the parent a1", "s2: has the parent a2", "a1: has the parent ma", "a2: has the parent ma"} {
		p.await(text)
	}
	p.signal("a2", syscall.SIGSTOP)
	p.signal("ma", syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	later := exec.CommandContext(ctx, built().gridrpc, "master", "--dir", p.dir, "--name", "ma")
	later.Cancel = func() error { return later.Process.Signal(os.Interrupt) }
	require.NoError(t, later.Start())
	t.Cleanup(func() { cancel(); _ = later.Wait() })
	p.until("a1 to be below the second master", func() bool { return strings.Count(p.eventLog.String(), "a1: has the parent ma") == 2 })
	p.signal("ma", syscall.SIGCONT)
	p.signal("a2", syscall.SIGCONT)
	p.await("ma: is deposed")
	p.until("a2 to be below the second master", func() bool { return strings.Count(p.eventLog.String(), "a2: has the parent ma") == 2 })
	p.await("ma died (exit status 1)")
	c := p.dial()
	calls := startTraffic(t, c)
	for {
		after, err := c.Describe(ctx)
		require.NoError(t, err)
		text := shape(after)
		if strings.Contains(text, "a1(s1)") && strings.Contains(text, "a2(s2)") {
			break
		}
	}
	calls.end()
}

// TestStoppedAgent: the children of a stopped agent join other agents, and return after it resumes.
func TestStoppedAgent(t *testing.T) {
	p := startTrial(t, "--tree", "1x1x2", "--detect", "1s", "--no-restart")
	c := p.dial()
	p.await("s1: has the parent a2")
	p.await("s2: has the parent a2")
	calls := startTraffic(t, c)
	p.signal("a2", syscall.SIGSTOP)
	for _, name := range []string{"s1", "s2"} { // a1 takes it, or the root, if a1 is slow to answer
		p.until(name+" to have another parent", func() bool { return strings.Count(p.eventLog.String(), name+": has the parent") >= 2 })
	}
	calls.end()
	p.signal("a2", syscall.SIGCONT)
	if testing.Short() {
		return // it takes ten seconds until a server looks for its configured parent
	}
	for _, name := range []string{"s1", "s2"} {
		p.until(name+" to be back", func() bool { return strings.Count(p.eventLog.String(), name+": has the parent a2") >= 2 })
	}
}

// TestSitesWithoutRecovery: each site is below an agent of its own. With --no-recovery a process
// that loses its parent searches for no other one, and clients find only the other site.
func TestSitesWithoutRecovery(t *testing.T) {
	p := startTrial(t, "--tree", "1x1,1x1", "--no-restart", "--no-recovery")
	c := p.dial()
	for _, text := range []string{"a1: has the parent ma", "a2: has the parent a1", "a3: has the parent ma", "a4: has the parent a3", "s1: has the parent a2", "s2: has the parent a4"} {
		p.await(text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	before, err := c.Describe(ctx)
	require.NoError(t, err)
	assert.Contains(t, []string{"ma(a1(a2(s1)) a3(a4(s2)))", "ma(a3(a4(s2)) a1(a2(s1)))"}, shape(before))
	p.signal("a1", syscall.SIGKILL)
	p.await("a2: has lost its parent")
	require.Eventually(t, func() bool {
		after, err := c.Describe(ctx)
		return err == nil && shape(after) == "ma(a3(a4(s2)))"
	}, within, time.Millisecond)
	assert.NotContains(t, p.told(), "a2: has the parent ma")
}
