package remotedaemon

import (
	"bytes"
	"sync"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/jobhost"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// Reports of the daemon are sent to the launcher: these are the methods of daemon.Host.

// Found is called when a process has ended. The end is entered into this node's list before others
// learn of it: an act of a process of another node because of a death here is never received before
// the death (B23).
func (o *nodeDaemon) Found(proc int, by job.Evidence, left bool, atNs int64) {
	kind := membership.Died
	if left {
		kind = membership.Left
		o.revocations.take(proc) // Finalize has ensured that all members have learned of them
	}
	o.roll.enter(proc, left)
	o.complaints.forget(proc)
	if pausepoint.Enabled {
		pausepoint.At("remotedaemon.publishes")
	}
	o.driver.Publish(membership.Process(kind, uint32(proc)))
	o.mouth.Say(daemonproto.Found{Proc: proc, By: by, Left: left, AtNs: atNs})
}

// Reaped is called with the status of the process.
func (o *nodeDaemon) Reaped(proc int, status job.Status) {
	o.mouth.Say(daemonproto.Reaped{Proc: proc, Status: status})
}

// Heard is called after the last message of a process.
func (o *nodeDaemon) Heard(proc int) {
	o.outlive(proc)
	o.mouth.Say(daemonproto.Heard{Proc: proc})
}

// NoLife is called for a process that shows no life.
func (o *nodeDaemon) NoLife(proc int, atNs int64) {
	o.mouth.Say(daemonproto.NoLife{Proc: proc, AtNs: atNs})
}

// Note is called with events for the user.
func (o *nodeDaemon) Note(event, format string, args ...any) { o.note(event, format, args...) }

// Said is called with each message of a process. A process that repeats a message that is allowed
// once loses its lifeline here: the launcher answers too late for that.
func (o *nodeDaemon) Said(proc int, said rankproto.Received) error {
	if _, ok := said.Message.(rankproto.Joined); ok {
		o.mu.Lock()
		twice := o.joined[proc]
		o.joined[proc] = true
		o.mu.Unlock()
		if twice {
			return jobhost.ErrTwice
		}
	}
	if m, ok := said.Message.(rankproto.Revoked); ok {
		o.revocations.add(proc, revocation(m.Name))
		return nil
	}
	if m, ok := said.Message.(rankproto.Unmet); ok {
		o.complaints.hear(proc, m) // and the launcher asks the peer to dial
	}
	if o.hearAlone(proc, said.Message) {
		return nil
	}
	line, err := rankproto.Encode(said.AtNs, said.Message)
	if err == nil {
		o.mouth.Say(daemonproto.Said{Proc: proc, Line: line})
	}
	return err
}

// CreditBytes are how much output of a node may be on its way.
const CreditBytes = 256 << 10

// credit is how much more may be sent.
type credit struct {
	mu   sync.Mutex
	more *sync.Cond
	out  int // sent and not passed on
}

// take waits until there is credit, and takes up to n bytes of it.
func (c *credit) take(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.more == nil {
		c.more = sync.NewCond(&c.mu)
	}
	for c.out >= CreditBytes {
		c.more.Wait()
	}
	n = min(n, CreditBytes-c.out)
	c.out += n
	return n
}

func (c *credit) give(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out -= n
	if c.more != nil {
		c.more.Broadcast()
	}
}

// An output takes one stream of a process.
type output struct {
	o *nodeDaemon
	// its number: the next process of the slot may print while another one still holds the pipe of
	// this one
	proc int
	errs bool
}

// Write implements daemon.Sink. The launcher makes lines of the pieces.
func (out *output) Write(piece []byte) {
	for len(piece) > 0 {
		n := out.o.credit.take(len(piece))
		out.o.mouth.Say(daemonproto.Output{Proc: out.proc, Errs: out.errs, Data: bytes.Clone(piece[:n])})
		piece = piece[n:]
	}
}

// Close implements daemon.Sink.
func (out *output) Close() {
	out.o.mouth.Say(daemonproto.Output{Proc: out.proc, Errs: out.errs, End: true})
}
