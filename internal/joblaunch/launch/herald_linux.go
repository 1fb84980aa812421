package launch

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/watchserver"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A herald reports the processes that live to programs outside the job (--watch): the contents of
// the event log, as events. Without --watch the herald is nil, and all its methods do nothing. No
// method waits.
type herald struct {
	post  *watchserver.Post
	nodes []Node
	of    []int // node of each slot; nil: there is one

	mu   sync.Mutex
	lost map[int]bool // nodes that are lost
}

// newHerald makes the socket, and passes its path to the ranks on this machine.
func newHerald(spec *Spec, rep *reporter) (*herald, error) {
	if !spec.Watch {
		return nil, nil
	}
	post, err := watchserver.New("", func(e watch.Event) {
		rep.note("watch", "%s, no rank, %s: %s", e.Name, e.What, e.Evidence)
	})
	if err != nil {
		return nil, fmt.Errorf("--watch: %w", err)
	}
	if len(spec.Hosts.Nodes) == 0 || spec.Hosts.Launcher == LauncherLocal {
		spec.Env = append(spec.Env, watch.Variable+"="+post.Path())
	}
	rep.note("watch", "goulfm watch --socket %s shows the processes that are alive", post.Path())
	rep.atOnce() // scripts read the path there
	nodes := spec.Hosts.Nodes
	if len(nodes) == 0 {
		self, _ := os.Hostname()
		nodes = []Node{{Name: self}}
	}
	return &herald{post: post, nodes: nodes, of: spec.nodesOfSlots(), lost: map[int]bool{}}, nil
}

// nodesJoined sends an event for each node, when the daemons of all nodes have joined.
func (h *herald) nodesJoined() {
	if h == nil {
		return
	}
	for i, n := range h.nodes {
		h.post.Tell(watch.Event{What: watch.Joined, Name: n.Name, Proc: watch.None, Node: i, AtNs: boot.NowNs()})
	}
}

// joined sends the event of a process that is in Init.
func (h *herald) joined(p job.Process, pid int) {
	h.tell(watch.Joined, p, fmt.Sprintf("pid %d", pid))
}

// ended sends the event of a process that has ended. A process that was declared dead before,
// because it showed no life, has had its event.
func (h *herald) ended(p job.Process) {
	switch {
	case p.By == job.BySilence:
	case p.By == job.ByNode:
		h.tell(watch.Lost, p, "its node is lost")
	case p.Left && p.Status == (job.Status{}):
		h.tell(watch.Left, p, "exit code 0")
	case p.Left:
		h.tell(watch.Died, p, p.Fate()+" after Finalize")
	default:
		h.tell(watch.Died, p, p.Fate())
	}
}

// silenced sends the event of a process that is declared dead and may run on.
func (h *herald) silenced(p job.Process) { h.tell(watch.Lost, p, "it shows no life") }

// tell sends an event of a process.
func (h *herald) tell(what string, p job.Process, evidence string) {
	if h == nil {
		return
	}
	node := 0
	if h.of != nil {
		node = h.of[p.Slot]
	}
	h.post.Tell(watch.Event{What: what, Proc: p.Number(), Node: node, Evidence: evidence, AtNs: boot.NowNs()})
}

// heraldsNotes are the notes about nodes that are events.
var heraldsNotes = map[string]string{"suspect": watch.Suspected, "frozen": watch.Frozen, "thawed": watch.Thawed, "node": watch.Lost, "came": watch.Joined}

// noted sends an event for a note of the event log about a node. A declaration is a note like
// others, of a node that is lost from then on.
func (h *herald) noted(event, format string, args []any) {
	what, isOne := heraldsNotes[event]
	if h == nil || !isOne || len(args) == 0 {
		return
	}
	about, isNode := args[0].(daemonclient.Subject)
	if !isNode {
		return
	}
	number, isLost := about.Node()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost[number] || what == watch.Lost && !isLost { // no event follows the loss of a node
		return
	}
	h.lost[number] = what == watch.Lost
	_, evidence, _ := strings.Cut(fmt.Sprintf(format, args...), ": ")
	h.post.Tell(watch.Event{What: what, Name: about.Name(), Proc: watch.None, Node: number, Evidence: evidence, AtNs: boot.NowNs()})
}

// over sends the verdict of the job: the last event.
func (h *herald) over(v job.Verdict) {
	if h != nil {
		h.post.Tell(watch.Event{What: watch.Over, Proc: watch.None, Node: watch.None, Evidence: fmt.Sprintf("%s; exit code %d", v.Text, v.Code), AtNs: boot.NowNs()})
	}
}

// close removes the socket.
func (h *herald) close() {
	if h != nil {
		h.post.Close()
	}
}

// Heard is called when the launcher has received the last message of a process, and all is known of
// its end. The herald gets the end before the rules do: after that the slot may have another
// process.
func (l *launcher) Heard(proc int) {
	l.Mu.Lock()
	p, _ := l.Rules.Process(proc)
	l.Mu.Unlock()
	l.herald.ended(p)
	l.Base.Heard(proc)
}

// tellJoined sends the event of a process that is in Init.
func (l *launcher) tellJoined(proc int) {
	l.Mu.Lock()
	p, _ := l.Rules.Process(proc)
	l.Mu.Unlock()
	l.herald.joined(p, l.crew.Pid(proc))
}
