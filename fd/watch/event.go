package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// version is that of the lines, in both directions.
const version = 1

// None is the Proc of an event without a process, and the Node of an event without a node.
const None = -1

// An Event reports a change of one member: a process of the job (with a Proc), a node of the job (a
// Node alone), or a registered program (a Name alone).
type Event struct {
	// Seq is the number of the event: 1 for the first event of the job, then one more each. The
	// events of a snapshot have the number of the last event that the snapshot includes.
	Seq uint64 `json:"seq"`
	// The kind of the event: one of the constants from Present to Over. Future versions may add
	// kinds.
	What string `json:"what"`
	// Name is the host of a node, or the name under which a program has registered.
	Name string `json:"name,omitempty"`
	// Proc is the number of the process in the job, or None. For the initial processes of the job,
	// Proc is the rank in the world; no number is used twice.
	Proc int `json:"proc"`
	// Node is the number of the node, that of the process if there is a Proc; or None.
	Node int `json:"node"`
	// Evidence is the reason for the event, for people: "killed (SIGKILL)", "exit code 3".
	Evidence string `json:"evidence,omitempty"`
	// AtNs is when the launcher learned of the event: CLOCK_MONOTONIC of its machine, in ns.
	AtNs int64 `json:"atNs"`
}

// Kinds of events.
const (
	// Present events come first: the member existed before the Watcher.
	Present = "present"
	// Complete ends the snapshot: all present members were listed. Later events happen after Open.
	Complete = "complete"

	Joined    = "joined"    // a process is in Init, a daemon serves the node, a program has registered
	Left      = "left"      // a process was through Finalize, a program has ended with exit code 0
	Died      = "died"      // the member has ended otherwise, as Evidence reports
	Lost      = "lost"      // the member counts as dead and may live: a silent node, and all processes there
	Suspected = "suspected" // a node was silent for a while
	Frozen    = "frozen"    // the processes of a node stand still: no message of the launcher reaches the node
	Thawed    = "thawed"    // the processes of the node resume

	// Over reports the end of the job and its manner. Over is the last event.
	Over = "over"
)

// Kinds of lines that are no events.
const (
	cut        = "cut"
	refused    = "refused"
	registered = "registered"
)

// String describes the event for people.
func (e Event) String() string {
	var b strings.Builder
	switch {
	case e.Proc != None:
		fmt.Fprintf(&b, "rank %d (node %d) ", e.Proc, e.Node)
	case e.Node != None:
		fmt.Fprintf(&b, "node %d (%s) ", e.Node, e.Name)
	case e.What == Over:
		b.WriteString("the job is ")
	case e.Name != "":
		fmt.Fprintf(&b, "%s ", e.Name)
	}
	b.WriteString(e.What)
	if e.Evidence != "" {
		b.WriteString(": " + e.Evidence)
	}
	return b.String()
}

// lineMax bounds a line, with its newline.
const lineMax = 64 << 10

// parse reads a line.
func parse(line []byte) (Event, error) {
	// Proc and Node are there in each line: 0 means the first one.
	e := struct {
		Version int `json:"v"`
		Event
	}{Event: Event{Proc: None, Node: None}}
	if err := json.Unmarshal(line, &e); err != nil {
		return Event{}, fmt.Errorf("watch: %q: %w", bytes.ToValidUTF8(line[:min(len(line), 80)], nil), err)
	}
	if e.Version != version {
		return Event{}, fmt.Errorf("watch: the job speaks version %d, and this program version %d: build it with the goulfm that runs the job", e.Version, version)
	}
	if e.Proc < None || e.Node < None {
		return Event{}, fmt.Errorf("watch: process %d of node %d: no such numbers", e.Proc, e.Node)
	}
	return e.Event, nil
}
