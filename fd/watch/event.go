package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// version is that of the lines, in both directions.
const version = 1

// None is the Proc or Node of an event that is about none.
const None = -1

// An Event is something that has happened to one member: a process of the job (it has a Proc), a
// node of it (a Node alone), or a program that has registered (a Name alone).
type Event struct {
	// Seq is its number: 1 for the first one of the job, then one more each. Those of a snapshot
	// have the number of the last one that it takes into account.
	Seq uint64 `json:"seq"`
	// What has happened: Joined and those below it. There may be more of them in the future.
	What string `json:"what"`
	// Name is of a node its host, of a program that has registered what it has said.
	Name string `json:"name,omitempty"`
	// Proc is the number of the process in the job, or None. For those with which the job began it
	// is the rank in the world; no number comes twice.
	Proc int `json:"proc"`
	// Node is the number of the node, that of the process if there is a Proc; or None.
	Node int `json:"node"`
	// Evidence says to people how that is known: "killed (SIGKILL)", "exit code 3".
	Evidence string `json:"evidence,omitempty"`
	// AtNs is when the launcher has learned of it: CLOCK_MONOTONIC of its machine, in ns.
	AtNs int64 `json:"atNs"`
}

// What can have happened.
const (
	// Present begins what Events gives: the member is there, and was before the Watcher was.
	Present = "present"
	// Complete ends that: all that are there were named. What follows happens now.
	Complete = "complete"

	Joined    = "joined"    // a process is in Init, a daemon serves the node, a program has registered
	Left      = "left"      // a process was through Finalize, a program has ended with exit code 0
	Died      = "died"      // it has ended otherwise, and Evidence says how
	Lost      = "lost"      // it counts as dead and may live: a node that is silent, and all processes there
	Suspected = "suspected" // a node was not heard for a while
	Frozen    = "frozen"    // the processes of a node stand still: it hears nothing of the launcher
	Thawed    = "thawed"    // they go on

	// Over says that the job has ended, and how. It is the last event.
	Over = "over"
)

// What a line says that is no event.
const (
	cut        = "cut"
	refused    = "refused"
	registered = "registered"
)

// String tells the event to people.
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
