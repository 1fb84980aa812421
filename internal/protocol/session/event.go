package session

import "github.com/goulfm/goulfm/internal/base/mono"

// A Conn names a connection of one lane, and is never used twice. Those that this process
// dials get odd numbers, from the session; those that it accepts get even numbers, from
// the host. 0 is no connection.
type Conn uint64

// An Event is something that happened to a lane: Want, Asked, Append, Dialed, DialFailed,
// Incoming, Answered, Broke, Arrived, Taken, Sweep, Acked, Bye, ByeAck, Close, Gone or
// Tick. An event of a connection that does not count any more changes nothing.
type Event interface{ event() }

// Want says that the lane is needed, also if only the peer has something to send.
type Want struct{}

// Asked says that the peer wants the lane and cannot dial it: see Ask. This process dials then,
// also if it has nothing to send and closes. Lost, repeated or late it does no harm.
type Asked struct{}

// Append says that bytes were added to this process's stream: Copied of them into the
// ring, then Referred of them in a buffer of the user. Room must have allowed it.
type Append struct {
	Copied, Referred int
}

// Dialed says that the dial asked for by Dial is connected.
type Dialed struct {
	Conn Conn
}

// DialFailed says that it could not be connected: refused, unreachable, no answer.
type DialFailed struct {
	Conn Conn
}

// Incoming is the Hello of a connection that the host accepted for this lane.
type Incoming struct {
	Conn  Conn // even
	Hello Hello
}

// Answered is the answer to the Hello that Greet sent.
type Answered struct {
	Conn  Conn
	Hello Hello
}

// Broke says that a connection is unusable: reset, or its end without a bye, or silence
// at the lower level, or nonsense.
type Broke struct {
	Conn Conn
}

// Arrived says that the next Bytes of the peer's stream came over Conn and are kept here
// whatever happens to Conn. Bytes of any other connection than the open one must be
// thrown away. A frame header counts once it is here completely, for until then nobody
// can tell whether it is one that counts.
type Arrived struct {
	Conn  Conn
	Bytes int
}

// Taken says that the engine took the next Bytes that had arrived.
type Taken struct {
	Bytes int
	Ask   bool // the frame asks for an acknowledgement at once
}

// Sweep asks to acknowledge all that was taken: before the engine waits, and now and
// then, so that no sender waits for the rest of a quarter.
type Sweep struct{}

// Acked is an acknowledgement from the peer: its engine has taken that many bytes of this
// process's stream, from the beginning.
type Acked struct {
	Conn  Conn
	Taken uint64
}

// Bye says that the peer has nothing more to send and was acknowledged all of it.
type Bye struct {
	Conn Conn
}

// ByeAck is the answer to a bye.
type ByeAck struct {
	Conn Conn
}

// Close begins the end: bye follows once everything is acknowledged. Nothing may be
// appended any more.
type Close struct{}

// Gone says that the peer has ended: declared dead, or left. What it was not seen to take
// is lost, and Closed comes at once.
type Gone struct {
	Dead bool // declared dead: if it dials all the same, it is told
}

// Tick says what time it is. Only a Tick moves time: give one before an event that
// begins a wait (DialFailed, Broke, Incoming), or the wait is shorter than meant.
type Tick struct {
	Now mono.Time // a Now before an earlier one counts as the earlier one
}

func (Want) event()       {}
func (Asked) event()      {}
func (Append) event()     {}
func (Dialed) event()     {}
func (DialFailed) event() {}
func (Incoming) event()   {}
func (Answered) event()   {}
func (Broke) event()      {}
func (Arrived) event()    {}
func (Taken) event()      {}
func (Sweep) event()      {}
func (Acked) event()      {}
func (Bye) event()        {}
func (ByeAck) event()     {}
func (Close) event()      {}
func (Gone) event()       {}
func (Tick) event()       {}

// An Action is something that the host must do, in the order given.
type Action interface{ action() }

// Dial asks for a connection to the peer, to be reported as Dialed or DialFailed.
type Dial struct {
	Conn Conn
}

// Greet sends a Hello over a connection that was dialed.
type Greet struct {
	Conn  Conn
	Hello Hello
}

// Answer sends the answer over a connection that was accepted.
type Answer struct {
	Conn  Conn
	Hello Hello
}

// Drop closes a connection, or gives up its dial. What was written to it before goes out
// first, if it still can. Nothing that arrives over it counts any more.
type Drop struct {
	Conn Conn
}

// Opened says that Conn is the lane now: write this process's stream from byte From on.
// What an earlier connection cut off is continued in the middle of a frame.
type Opened struct {
	Conn Conn
	From uint64
}

// Release says that the stream below byte To is acknowledged: its place in the ring is
// free, and buffers of the user that end there are the user's again.
type Release struct {
	To uint64
}

// WriteAck sends an acknowledgement, between two frames.
type WriteAck struct {
	Conn  Conn
	Taken uint64
}

// WriteBye sends a bye behind everything else.
type WriteBye struct {
	Conn Conn
}

// WriteByeAck sends the answer to a bye.
type WriteByeAck struct {
	Conn Conn
}

// Unreachable says that the lane has lacked a connection for ComplainAfter: tell those
// who decide about nodes. It comes once per outage.
type Unreachable struct{}

// Reachable withdraws an Unreachable.
type Reachable struct{}

// Ask asks the peer, on another way than this lane, to dial: this process wants the lane and has
// not been able to connect. It comes with Unreachable and is repeated, each time after twice as
// long, up to AskLast, because it may be lost or the peer may not be there yet.
type Ask struct{}

// Fenced says that the peer answered: this process was declared dead, and must stop.
type Fenced struct{}

// Closed says that the lane has ended, once. Lost bytes of this process's stream were never
// acknowledged; 0 unless the peer is Gone. As long as this process lives, the session must
// be given what the peer still dials and says.
type Closed struct {
	Lost uint64
}

// Anomaly reports what a correct peer would not have said. The connection was dropped.
type Anomaly struct {
	Text string
}

func (Dial) action()        {}
func (Greet) action()       {}
func (Answer) action()      {}
func (Drop) action()        {}
func (Opened) action()      {}
func (Release) action()     {}
func (WriteAck) action()    {}
func (WriteBye) action()    {}
func (WriteByeAck) action() {}
func (Unreachable) action() {}
func (Reachable) action()   {}
func (Ask) action()         {}
func (Fenced) action()      {}
func (Closed) action()      {}
func (Anomaly) action()     {}
