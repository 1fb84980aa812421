package remotedaemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A cluster is a job on several nodes in this process. Its launcher is a daemonclient.Client with a
// host that only records: unlike a launcher, it orders nothing when a process or a node dies. Its
// daemons are node daemons. Each node has one slot with a rank that a job engine has started.
type cluster struct {
	t      *testing.T
	client *daemonclient.Client
	told   chan string // the reports to the launcher
	heard  map[string]bool
	invite func(string) ([]byte, bool)
	nodes  []*host
}

// A host is the machine of one node.
type host struct {
	*nodeDaemon
	t     *testing.T
	ranks map[int]*rank // by slot
	ended chan exit
	there chan struct{} // closed: its ranks are adopted
}

type exit struct {
	code int
	err  error
}

// A rank is a process that only waits.
type rank struct {
	cmd  *exec.Cmd
	said *rankproto.Decoder // messages of its daemon
}

// newCluster starts a job on so many nodes; others may come.
func newCluster(t *testing.T, nodes int, cfg daemonclient.Config) *cluster {
	t.Helper()
	percent, procs := debug.SetGCPercent(100), runtime.GOMAXPROCS(0)
	t.Cleanup(func() { debug.SetGCPercent(percent); runtime.GOMAXPROCS(procs) }) // a daemon changes both
	c := &cluster{t: t, told: make(chan string, 1000), heard: map[string]bool{}}
	for i := range nodes + cfg.Late {
		c.nodes = append(c.nodes, &host{t: t, ranks: map[int]*rank{}, ended: make(chan exit, 1), there: make(chan struct{})})
		cfg.Nodes = append(cfg.Nodes, i)
	}
	for i := range nodes {
		cfg.Names = append(cfg.Names, string(rune('a'+i)))
	}
	cfg.Ranks, cfg.Starter, cfg.Within, cfg.Secure, cfg.Iface = nodes, c, time.Minute, socket.Auth, "127.0.0.1"
	f, err := daemonclient.New(t.Context(), c, cfg)
	require.NoError(t, err)
	c.client = f
	t.Cleanup(c.end)
	f.Adopt()
	f.Announce(nodes)
	require.NoError(t, f.Begin(func() error { return nil }))
	for _, h := range c.nodes[:nodes] {
		<-h.there
	}
	return c
}

// end ends all daemons.
func (c *cluster) end() {
	c.client.Close()
	for _, h := range c.nodes {
		if h.nodeDaemon != nil {
			h.quit()
		}
	}
}

// quit waits for the end of the daemon.
func (h *host) quit() {
	for _, r := range h.ranks {
		r.kill()
	}
	select {
	case e := <-h.ended:
		h.ended <- e
	case <-time.After(soon):
		assert.Fail(h.t, "a daemon does not end")
	}
}

// Start implements daemonclient.Starter.
func (c *cluster) Start(node int, _ string, bootstrap []byte, _ func(error)) (func(bool), error) {
	c.nodes[node].live(bootstrap)
	return func(bool) {}, nil
}

// Opens implements daemonclient.Doorkeeper.
func (c *cluster) Opens(invite func(string) ([]byte, bool)) { c.invite = invite }

// live starts the daemon.
func (h *host) live(bootstrap []byte) {
	h.nodeDaemon = newNodeDaemon()
	h.guests = h
	require.NoError(h.t, json.Unmarshal(bootstrap, &h.boot))
	go func() {
		code, err := h.run(context.Background())
		h.ended <- exit{code, err}
	}()
}

// Adopt implements Guests.
func (h *host) Adopt(d *daemon.Daemon) (map[int]int, error) {
	pids := map[int]int{}
	for _, slot := range h.plan.Slots {
		number := d.Number(slot)
		r, a := h.newRank(number)
		if err := d.Adopt(a); err != nil {
			return nil, err
		}
		h.ranks[slot], pids[number] = r, a.Pid
	}
	close(h.there)
	return pids, nil
}

// Place implements Guests.
func (h *host) Place(*daemon.Daemon, *daemon.Neighbours, int, int) error { return nil }

// newRank starts a process.
func (h *host) newRank(number int) (*rank, daemon.Adoption) {
	t := h.t
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	assert.NoError(t, cmd.Start())
	pidfd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	assert.NoError(t, err)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	assert.NoError(t, err)
	line := func(fd int) *net.UnixConn {
		f := os.NewFile(uintptr(fd), "lifeline")
		defer f.Close()
		conn, err := net.FileConn(f)
		assert.NoError(t, err)
		return conn.(*net.UnixConn)
	}
	theirs := line(fds[1])
	go func() { // like an engine; the end of the process is the end of its lifeline
		_ = cmd.Wait()
		theirs.Close()
	}()
	return &rank{cmd, rankproto.FromDaemon(theirs, 8)}, daemon.Adoption{Number: number, Pid: cmd.Process.Pid, Pidfd: pidfd, Line: line(fds[0])}
}

func (r *rank) kill() { _ = syscall.Kill(r.cmd.Process.Pid, syscall.SIGKILL) }

// state is that of the process for the kernel, such as "T": it stands still.
func (r *rank) state() string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
	if err != nil {
		return "gone"
	}
	return string(bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])[0])
}

// memory is what ranks of the node read.
func (h *host) memory() *segment.Node {
	file, _ := h.d.Memory()
	m, err := segment.Attach(file.Fd())
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = m.Detach() })
	n, err := segment.OpenNode(m, h.d.Job())
	require.NoError(h.t, err)
	return n
}

// awaitDeparted waits until the ranks of the node know that the process of a slot has departed, and
// why.
func (h *host) awaitDeparted(slot int, want uint32) {
	h.t.Helper()
	n := h.memory()
	require.Eventually(h.t, func() bool { _, gone := n.Departed(slot); return gone }, soon, time.Millisecond)
	why, _ := n.Departed(slot)
	assert.Equal(h.t, want, why, "node %d, slot %d", h.boot.Node, slot)
}

// awaitEnd waits for the end of the daemon.
func (h *host) awaitEnd() exit {
	h.t.Helper()
	select {
	case e := <-h.ended:
		h.ended <- e // for end
		return e
	case <-time.After(soon):
		require.Fail(h.t, "a daemon does not end")
	}
	return exit{}
}

// Found implements daemon.Host for the launcher, as do the other methods.
func (c *cluster) Found(proc int, by job.Evidence, left bool, _ int64) {
	c.told <- fmt.Sprintf("found %d by %s, left %v", proc, by, left)
}

func (c *cluster) Reaped(proc int, _ job.Status) { c.told <- fmt.Sprintf("reaped %d", proc) }
func (c *cluster) Heard(proc int)                { c.told <- fmt.Sprintf("heard %d", proc) }
func (c *cluster) NoLife(proc int, _ int64)      { c.told <- fmt.Sprintf("no life %d", proc) }
func (c *cluster) Said(proc int, said rankproto.Received) error {
	c.told <- fmt.Sprintf("said %d %T", proc, said.Message)
	return nil
}

func (c *cluster) Note(event, format string, args ...any) {
	c.told <- event + ": " + fmt.Sprintf(format, args...)
}

// await waits until the launcher has received reports that contain these texts.
func (c *cluster) await(texts ...string) {
	c.t.Helper()
	limit := time.After(soon)
	for _, text := range texts {
		for !c.hasHeard(text) {
			select {
			case now := <-c.told:
				c.heard[now] = true
			case <-limit:
				require.Fail(c.t, "never reported", "%s, but %v", text, c.heard)
			}
		}
	}
}

func (c *cluster) hasHeard(text string) bool {
	for said := range c.heard {
		if strings.Contains(said, text) {
			return true
		}
	}
	return false
}

// say has the rank of a node say something.
func (h *host) say(m rankproto.Message) error {
	return h.Said(h.plan.Slots[0], rankproto.Received{Message: m})
}

// next returns the next message of the daemon to the rank of a node.
func (h *host) next() rankproto.Message {
	h.t.Helper()
	said := make(chan rankproto.Message, 1)
	go func() {
		m, err := h.ranks[h.plan.Slots[0]].said.Next()
		if assert.NoError(h.t, err) {
			said <- m.Message
		}
	}()
	select {
	case m := <-said:
		return m
	case <-time.After(soon):
		require.Fail(h.t, "the daemon says nothing")
	}
	return nil
}

// soon is the limit of each wait: a bug is found by it.
const soon = 20 * time.Second

// patient are times by which no node is lost for its silence.
var patient = daemonproto.Beats{Period: 100 * time.Millisecond, Timeout: time.Minute, Confirm: time.Minute, Link: 5 * time.Minute, Orphan: 5 * time.Minute}

// brief are times by which a silent node is lost soon, and a busy machine loses none.
var brief = daemonproto.Beats{Period: 50 * time.Millisecond, Timeout: 700 * time.Millisecond, Confirm: 200 * time.Millisecond, Link: 5 * time.Minute, Orphan: time.Minute}

// TestADeathIsNews: the ranks of all nodes know of a death, and of one that has finished, without
// an order of the launcher. So it is with revocations that a dead rank has made, and not with those
// of one that has finished.
func TestADeathIsNews(t *testing.T) {
	c := newCluster(t, 3, daemonclient.Config{Beats: patient})
	a, b := c.nodes[0], c.nodes[1]
	require.NoError(t, b.say(rankproto.Revoked{Name: bytes.Repeat([]byte{7}, 16)}))
	require.NoError(t, c.nodes[2].say(rankproto.Revoked{Name: bytes.Repeat([]byte{8}, 16)}))
	c.nodes[2].memory().SetState(2, segment.Left)
	c.nodes[2].ranks[2].kill()
	for _, h := range c.nodes {
		h.awaitDeparted(2, segment.Retired)
	}
	c.await("found 2 by reaping, left true", "reaped 2", "heard 2")
	b.ranks[1].kill()
	for _, h := range c.nodes {
		h.awaitDeparted(1, segment.Died)
	}
	c.await("found 1 by reaping, left false", "reaped 1", "heard 1")
	assert.Equal(t, rankproto.Revoked{Name: bytes.Repeat([]byte{7}, 16)}, a.next())
}

// TestAPartition: the ranks of a node that is cut off stand still before the launcher reports their
// deaths, and those of the others learn of the loss without an order of the launcher. The node ends
// when it is reached again.
func TestAPartition(t *testing.T) {
	var ways []daemonclient.Way
	for other := range 3 {
		ways = append(ways, daemonclient.Way{From: 3, To: other}, daemonclient.Way{From: other, To: 3})
	}
	c := newCluster(t, 3, daemonclient.Config{Beats: brief, Cuts: ways})
	c.client.Cut(ways, true)
	c.await("found 2 by node, left false")
	assert.Equal(t, "T", c.nodes[2].ranks[2].state())
	c.await("reaped 2", "heard 2")
	for _, h := range c.nodes[:2] {
		h.awaitDeparted(2, segment.Lost)
		assert.NotEqual(t, "T", h.ranks[h.boot.Node].state(), "it is granted its lease")
	}
	c.client.Cut(ways, false)
	assert.NotZero(t, c.nodes[2].awaitEnd().code)
	require.Eventually(t, func() bool { return c.nodes[2].ranks[2].state() == "gone" }, soon, time.Millisecond)
}

// TestALateNode: it learns of the death before it came, and the others of the death of its rank,
// without an order of the launcher.
func TestALateNode(t *testing.T) {
	c := newCluster(t, 2, daemonclient.Config{Beats: patient, Late: 1})
	c.nodes[0].ranks[0].kill()
	c.await("heard 0")
	c.client.Declare(0, false)
	bootstrap, ok := c.invite("late")
	require.True(t, ok)
	late := c.nodes[2]
	late.live(bootstrap)
	c.await("node 2 (late) has come")
	<-late.there
	late.awaitDeparted(0, segment.Died)
	late.ranks[2].kill()
	for _, h := range c.nodes {
		h.awaitDeparted(2, segment.Died)
	}
	c.await("found 2 by reaping, left false", "reaped 2", "heard 2")
}

// TestTheLauncherIsGone: the nodes that have no processes any more stay until all others have none,
// requests for processes are refused, and the deaths of ranks are news as before.
func TestTheLauncherIsGone(t *testing.T) {
	beats := brief
	beats.Survive = true
	c := newCluster(t, 3, daemonclient.Config{Beats: beats, OutputDir: t.TempDir()})
	a, b, d := c.nodes[0], c.nodes[1], c.nodes[2]
	require.NoError(t, b.say(rankproto.Spawn{Token: 5, N: 1, Procs: []int{1}}))
	c.await("said 1 rankproto.Spawn")
	c.client.Close()
	assert.Equal(t, rankproto.Spawned{Token: 5, Short: true, Why: errAlone}, b.next())
	require.NoError(t, b.say(rankproto.Spawn{Token: 6, N: 1, Procs: []int{1}}))
	assert.Equal(t, rankproto.Spawned{Token: 6, Short: true, Why: errAlone}, b.next())

	a.ranks[0].kill()
	for _, h := range c.nodes {
		h.awaitDeparted(0, segment.Died)
	}
	b.ranks[1].kill()
	d.awaitDeparted(1, segment.Died)
	assert.Empty(t, a.ended, "it stays for its vote")
	d.ranks[2].kill()
	for _, h := range c.nodes {
		assert.Equal(t, exit{}, h.awaitEnd())
	}
}

// TestARankAbortsWithoutLauncher: the ranks of all nodes end.
func TestARankAbortsWithoutLauncher(t *testing.T) {
	beats := brief
	beats.Survive = true
	c := newCluster(t, 2, daemonclient.Config{Beats: beats, OutputDir: t.TempDir()})
	c.client.Close()
	require.Eventually(t, func() bool { return c.nodes[1].solo.is.Load() }, soon, time.Millisecond)
	require.NoError(t, c.nodes[1].say(rankproto.Aborted{Code: 9}))
	e := c.nodes[0].awaitEnd()
	assert.Equal(t, 5, e.code)
	require.ErrorContains(t, e.err, "a rank has ended the job with code 9")
	c.nodes[1].awaitEnd()
}
