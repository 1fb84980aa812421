package session

import "github.com/goulfm/goulfm/internal/base/mono"

// A Conn names a connection of one lane, and is never used twice. The session gives odd numbers to
// the connections that this process dials; the host gives even numbers to the connections that it
// accepts. 0 is no connection.
type Conn uint64

// An Event is something that happened to a lane: Want, Asked, Append, Dialed, DialFailed, Incoming,
// Answered, Broke, Arrived, Taken, Sweep, Acked, Bye, ByeAck, Close, Gone or Tick. An event of a
// connection that does not count any more changes nothing.
type Event interface{ event() }

// Want reports that the lane is needed, even if only the peer has something to send.
type Want struct{}

// Asked reports that the peer needs the lane and cannot dial: see Ask. This process then dials,
// even if it has nothing to send and is closing. A lost, repeated or late Asked does no harm.
type Asked struct{}

// Append reports bytes added to this process's stream: first Copied bytes in the ring, then
// Referred bytes in a buffer of the user. Room must have allowed it.
type Append struct {
	Copied, Referred int
}

// Dialed reports that the dial requested by Dial is connected.
type Dialed struct {
	Conn Conn
}

// DialFailed reports that the dial could not be connected: refused, unreachable, no answer.
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

// Broke reports that a connection is unusable: reset, ended without a bye, silent at the lower
// level, or carrying malformed frames.
type Broke struct {
	Conn Conn
}

// Arrived reports that the next Bytes of the peer's stream came over Conn and are kept here even if
// Conn breaks. The host must discard the bytes of every connection except the open one. A frame
// header counts once all of it is here: until then the host cannot know whether the frame is part
// of the stream.
type Arrived struct {
	Conn  Conn
	Bytes int
}

// Taken reports that the engine accepted the next Bytes that had arrived.
type Taken struct {
	Bytes int
	Ask   bool // the frame asks for an acknowledgement at once
}

// Sweep requests an acknowledgement of all that was taken. The host sends it before the engine
// waits, and from time to time, so that no sender waits for the rest of a quarter.
type Sweep struct{}

// Acked is an acknowledgement from the peer: its engine has taken the first Taken bytes of this
// process's stream.
type Acked struct {
	Conn  Conn
	Taken uint64
}

// Bye reports that the peer has nothing more to send and that its whole stream is acknowledged.
type Bye struct {
	Conn Conn
}

// ByeAck is the answer to a bye.
type ByeAck struct {
	Conn Conn
}

// Close begins the end of the lane: the session writes a bye once everything is acknowledged. The
// host must not append any more.
type Close struct{}

// Gone reports that the peer has ended: it was declared dead, or it left. Bytes that the peer has
// not acknowledged are lost, and Closed follows at once.
type Gone struct {
	Dead bool // declared dead: if the peer still dials, the answer is Dead
}

// Tick reports the time. Only a Tick moves time: the host gives a Tick before an event that begins
// a wait (DialFailed, Broke, Incoming), or the wait is too short.
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

// Dial requests a connection to the peer; the host reports Dialed or DialFailed.
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

// Drop closes a connection, or abandons its dial. The host first sends the bytes that are already
// written, if possible. Nothing that arrives over Conn counts any more.
type Drop struct {
	Conn Conn
}

// Opened reports that Conn is now the lane: the host writes this process's stream from byte From
// on. If an earlier connection was cut off inside a frame, the host continues in the middle of this
// frame.
type Opened struct {
	Conn Conn
	From uint64
}

// Release reports that the stream below byte To is acknowledged. Its place in the ring is free, and
// buffers of the user that end there belong to the user again.
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

// Unreachable reports that the lane has lacked a connection for ComplainAfter. The host forwards
// the complaint to the processes that decide about nodes. Unreachable comes once per outage.
type Unreachable struct{}

// Reachable withdraws an Unreachable.
type Reachable struct{}

// Ask asks the peer, on another path than this lane, to dial: this process needs the lane and has
// not been able to connect. Ask comes with Unreachable and is repeated after a wait that doubles up
// to AskLast, because the request may be lost or the peer may not have started yet.
type Ask struct{}

// Fenced reports the peer's answer that this process was declared dead. The process must stop.
type Fenced struct{}

// Closed reports that the lane has ended, once. Lost is the number of bytes of this process's
// stream that were never acknowledged; 0 unless the peer ended. As long as this process lives, the
// host must still give the session each connection and each frame of the peer.
type Closed struct {
	Lost uint64
}

// Anomaly reports a frame that a correct peer would not have sent. The connection was dropped.
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
