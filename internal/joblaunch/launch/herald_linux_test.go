package launch

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aNode is the subject of a note.
type aNode struct {
	number int
	name   string
	isLost bool
}

func (n *aNode) Node() (int, bool) { return n.number, n.isLost }

func (n *aNode) Name() string { return n.name }

func (n *aNode) String() string { return fmt.Sprintf("node %d (%s)", n.number, n.name) }

// TestHerald: each end makes one event, in the words of its evidence, and of the notes only the
// ones about nodes make events. After the loss of a node no event of the node follows.
func TestHerald(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	spec := &Spec{N: 4, Watch: true, Hosts: Hosts{Launcher: LauncherLocal, Nodes: []Node{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}}}
	rep := newReporter(spec, &outlet{w: io.Discard}, time.Now())
	h, err := newHerald(spec, rep)
	require.NoError(t, err)
	line, _, isDue := rep.queue.take(rep.dueNs+eventLogDelay.Nanoseconds(), false)
	assert.True(t, isDue, "scripts wait for the line")
	assert.Contains(t, line.text, h.post.Path())
	assert.Equal(t, []string{watch.Variable + "=" + h.post.Path()}, spec.Env)
	w, err := watch.OpenAt(t.Context(), h.post.Path())
	require.NoError(t, err)

	h.nodesJoined()
	h.joined(job.Process{Slot: 3, Generation: 1}, 77)
	h.ended(job.Process{Slot: 0, Left: true, By: job.ByTombstone})
	h.ended(job.Process{Slot: 1, Left: true, By: job.ByTombstone, Status: job.Status{Code: 3}})
	h.ended(job.Process{Slot: 2, By: job.ByReaping})
	h.noted("came", "%s has come: %d processes can be started there", []any{&aNode{number: 2, name: "late"}, 2})
	node := &aNode{number: 1, name: "b"}
	h.noted("suspect", "%s: not heard for %s", []any{node, time.Second})
	h.noted("frozen", "%s: %s", []any{node, "nothing granted"})
	h.noted("node", "%s: %s", []any{node, "some words"})
	h.noted("spawn", "%d", []any{7})
	node.isLost = true
	h.noted("node", "%s is lost: %v", []any{node, "it is silent"})
	h.noted("thawed", "%s: %s", []any{node, "late"})
	h.ended(job.Process{Slot: 3, By: job.ByNode, Status: job.Status{Signal: 9}})
	h.silenced(job.Process{Slot: 1})
	h.ended(job.Process{Slot: 1, By: job.BySilence, Status: job.Status{Signal: 9}})
	h.over(job.Verdict{Code: 4, Text: "too many lost"})
	h.close()

	var got []string
	for e, err := range w.Events() {
		require.NoError(t, err)
		got = append(got, e.String())
	}
	assert.Equal(t, []string{
		"complete",
		"node 0 (a) joined",
		"node 1 (b) joined",
		"rank 65539 (node 1) joined: pid 77",
		"rank 0 (node 0) left: exit code 0",
		"rank 1 (node 0) died: exit code 3 after Finalize",
		"rank 2 (node 1) died: exit without Finalize",
		"node 2 (late) joined: 2 processes can be started there",
		"node 1 (b) suspected: not heard for 1s",
		"node 1 (b) frozen: nothing granted",
		"node 1 (b) lost: it is silent",
		"rank 3 (node 1) lost: its node is lost",
		"rank 1 (node 0) lost: it shows no life",
		"the job is over: too many lost; exit code 4",
	}, got)
}

// TestNoHerald: without --watch there is no event, and no socket.
func TestNoHerald(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	spec := &Spec{N: 1}
	h, err := newHerald(spec, nil)
	require.NoError(t, err)
	h.nodesJoined()
	h.ended(job.Process{})
	h.noted("node", "%s is lost: %v", []any{&aNode{isLost: true}, ""})
	h.over(job.Verdict{})
	h.close()
	assert.Empty(t, spec.Env)
}
