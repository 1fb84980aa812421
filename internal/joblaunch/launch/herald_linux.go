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

// A herald tells programs that are no ranks who lives (--watch): what the event log tells people,
// as events. All methods of a nil herald do nothing, as it is without --watch, and none waits.
type herald struct {
	post  *watchserver.Post
	nodes []Node
	of    []int // node of each slot; nil: there is one

	mu   sync.Mutex
	lost map[int]bool // nodes
}

// newHerald makes the socket, and has the ranks that are on this machine know of it.
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
	rep.note("watch", "goulfm watch --socket %s shows who lives", post.Path())
	rep.atOnce() // scripts read the path there
	nodes := spec.Hosts.Nodes
	if len(nodes) == 0 {
		self, _ := os.Hostname()
		nodes = []Node{{Name: self}}
	}
	return &herald{post: post, nodes: nodes, of: spec.nodesOfSlots(), lost: map[int]bool{}}, nil
}

// nodesJoined is told when the daemons of all nodes are there.
func (h *herald) nodesJoined() {
	if h == nil {
		return
	}
	for i, n := range h.nodes {
		h.post.Tell(watch.Event{What: watch.Joined, Name: n.Name, Proc: watch.None, Node: i, AtNs: boot.NowNs()})
	}
}

// joined is told when a process is in Init.
func (h *herald) joined(p job.Process, pid int) {
	h.tell(watch.Joined, p, fmt.Sprintf("pid %d", pid))
}

// ended is told how a process has ended. One that was declared dead before, as it showed no life,
// was told then.
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

// silenced is told when a process is declared dead that may run on.
func (h *herald) silenced(p job.Process) { h.tell(watch.Lost, p, "it shows no life") }

// tell tells something of a process.
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

// noted is told what the event log has, and tells what of it is about nodes: a declaration is a
// note like others, of a node that is lost since.
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
	if h.lost[number] || what == watch.Lost && !isLost { // of the dead nothing is told
		return
	}
	h.lost[number] = what == watch.Lost
	_, evidence, _ := strings.Cut(fmt.Sprintf(format, args...), ": ")
	h.post.Tell(watch.Event{What: what, Name: about.Name(), Proc: watch.None, Node: number, Evidence: evidence, AtNs: boot.NowNs()})
}

// over is told how the job has ended: the last event.
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

// Heard is told that a process has said its last: all is known of its end. It is told before the
// rules are, after which its slot may be another's.
func (l *launcher) Heard(proc int) {
	l.Mu.Lock()
	p, _ := l.Rules.Process(proc)
	l.Mu.Unlock()
	l.herald.ended(p)
	l.Base.Heard(proc)
}

// tellJoined tells that a process is in Init.
func (l *launcher) tellJoined(proc int) {
	l.Mu.Lock()
	p, _ := l.Rules.Process(proc)
	l.Mu.Unlock()
	l.herald.joined(p, l.crew.Pid(proc))
}
