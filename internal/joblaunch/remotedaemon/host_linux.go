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

// What the daemon tells goes to the launcher: these are the methods of daemon.Host.

// Found is told that a process has ended. It comes into this node's list before others learn of it:
// what a process of another node does because of a death here is never heard before the death
// (B23).
func (o *outpost) Found(proc int, by job.Evidence, left bool, atNs int64) {
	kind := membership.Died
	if left {
		kind = membership.Left
		o.revocations.take(proc) // Finalize has seen to it that all members have heard
	}
	o.roll.enter(proc, left)
	if pausepoint.Enabled {
		pausepoint.At("outpost.publishes")
	}
	o.vigil.Publish(membership.Process(kind, uint32(proc)))
	o.mouth.Say(daemonproto.Found{Proc: proc, By: by, Left: left, AtNs: atNs})
}

// Reaped is told how.
func (o *outpost) Reaped(proc int, status job.Status) {
	o.mouth.Say(daemonproto.Reaped{Proc: proc, Status: status})
}

// Heard is told that it has said its last.
func (o *outpost) Heard(proc int) {
	o.outlive(proc)
	o.mouth.Say(daemonproto.Heard{Proc: proc})
}

// NoLife is told of a process that shows none.
func (o *outpost) NoLife(proc int, atNs int64) {
	o.mouth.Say(daemonproto.NoLife{Proc: proc, AtNs: atNs})
}

// Note is told what people should know.
func (o *outpost) Note(event, format string, args ...any) { o.note(event, format, args...) }

// Said is told what a process says. One that says twice what can be said once loses its lifeline
// here: the launcher answers too late for that.
func (o *outpost) Said(proc int, said rankproto.Received) error {
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

// take waits until something may be sent, and takes up to n bytes of what may.
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
	o    *outpost
	proc int // its number: what has the seat next may print while somebody still holds the pipe of this one
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
