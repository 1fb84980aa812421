package adaptive

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed is returned for bytes that are no message of this package.
var ErrMalformed = errors.New("malformed heartbeat message")

// A Message is one of the messages between observer and emitter: Beat, Adjust, Probe or Echo.
//
// All have one layout, little endian. Times on the wire are whole microseconds.
//
//	offset  0     1      2      4       8    12     20      24   32
//	        kind  flags  epoch  stream  seq  clock  period  tag
//	Beat    1     0      x      x       x    x      x       x      clock: nominal time
//	Adjust  2     bits   x      x       0    x      x       x      clock: observer's; bit 0: ByLink, bit 1: Echo
//	Probe   3     0      0      x       0    x      0       x      clock: observer's, to be echoed
//	Echo    4     0      0      x       0    x      0       x      the clock that is echoed
type Message interface{ message() }

// Beat is a sign of life (emitter to observer).
type Beat struct {
	Stream  uint32   // number of the observation, see Observer.Stream
	Epoch   uint16   // of the latest Adjust that the emitter obeys
	Seq     uint32   // number; the next one is one more, also of a beat that is left out
	Nominal Time     // when the beat was due, on the emitter's clock
	Period  Duration // until the next one
}

// Adjust asks for a period (observer to emitter). An Adjust also renews the observation.
type Adjust struct {
	Stream uint32
	Epoch  uint16 // grows by one with each new period, modulo 2^16
	Clock  Time   // of the observer
	Period Duration
	ByLink bool // beats are to be sent over the connection, because datagrams do not arrive
	Echo   bool // an Echo is requested
}

// Probe asks for an Echo (observer to emitter).
type Probe struct {
	Stream uint32
	Clock  Time // of the observer
}

// Echo answers an Adjust or a Probe with its clock (emitter to observer).
type Echo struct {
	Stream uint32
	Clock  Time
}

func (Beat) message()   {}
func (Adjust) message() {}
func (Probe) message()  {}
func (Echo) message()   {}

// The layout of a message: its kinds, the flags of an Adjust, the offsets of its fields, its
// length.
const (
	kindBeat   = 1
	kindAdjust = 2
	kindProbe  = 3
	kindEcho   = 4

	flagByLink = 1
	flagEcho   = 2

	offEpoch, offStream, offSeq, offClock, offPeriod = 2, 4, 8, 12, 20

	// BodySize is the length of a message without its tag, in bytes.
	BodySize = 24
	// periodMax is the longest period that fits.
	periodMax = Duration(1<<32-1) * Microsecond
)

// frame is the layout. Each kind of message uses some of its fields.
type frame struct {
	kind, flags byte
	epoch       uint16
	stream, seq uint32
	clock       Time
	period      Duration
}

// AppendMessage appends the BodySize bytes of m.
func AppendMessage(dst []byte, m Message) []byte {
	f := frame{}
	switch m := m.(type) {
	case Beat:
		f = frame{kind: kindBeat, epoch: m.Epoch, stream: m.Stream, seq: m.Seq, clock: m.Nominal, period: m.Period}
	case Adjust:
		f = frame{kind: kindAdjust, epoch: m.Epoch, stream: m.Stream, clock: m.Clock, period: m.Period}
		if m.ByLink {
			f.flags |= flagByLink
		}
		if m.Echo {
			f.flags |= flagEcho
		}
	case Probe:
		f = frame{kind: kindProbe, stream: m.Stream, clock: m.Clock}
	case Echo:
		f = frame{kind: kindEcho, stream: m.Stream, clock: m.Clock}
	}
	return f.append(dst)
}

func (f frame) append(dst []byte) []byte {
	dst = append(dst, f.kind, f.flags)
	dst = binary.LittleEndian.AppendUint16(dst, f.epoch)
	dst = binary.LittleEndian.AppendUint32(dst, f.stream)
	dst = binary.LittleEndian.AppendUint32(dst, f.seq)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(int64(f.clock)/int64(Microsecond)))
	return binary.LittleEndian.AppendUint32(dst, uint32(min(f.period, periodMax)/Microsecond))
}

// ParseMessage decodes the output of AppendMessage. Every message has one encoding only.
func ParseMessage(b []byte) (Message, error) {
	f, ok := readFrame(b)
	if !ok {
		return nil, ErrMalformed
	}
	var m Message
	switch f.kind {
	case kindBeat:
		m = f.beat()
	case kindAdjust:
		m = Adjust{Stream: f.stream, Epoch: f.epoch, Clock: f.clock, Period: f.period, ByLink: f.flags&flagByLink != 0, Echo: f.flags&flagEcho != 0}
	case kindProbe:
		m = Probe{Stream: f.stream, Clock: f.clock}
	case kindEcho:
		m = Echo{Stream: f.stream, Clock: f.clock}
	}
	return m, nil
}

// ParseBeat reads a Beat, without an allocation, and returns false for any other bytes.
func ParseBeat(b []byte) (Beat, bool) {
	f, ok := readFrame(b)
	if !ok || f.kind != kindBeat {
		return Beat{}, false
	}
	return f.beat(), true
}

func (f frame) beat() Beat {
	return Beat{Stream: f.stream, Epoch: f.epoch, Seq: f.seq, Nominal: f.clock, Period: f.period}
}

// readFrame reads the layout, and reports whether AppendMessage could have written these bytes.
func readFrame(b []byte) (frame, bool) {
	if len(b) != BodySize {
		return frame{}, false
	}
	us := int64(binary.LittleEndian.Uint64(b[offClock:]))
	f := frame{
		kind: b[0], flags: b[1],
		epoch:  binary.LittleEndian.Uint16(b[offEpoch:]),
		stream: binary.LittleEndian.Uint32(b[offStream:]),
		seq:    binary.LittleEndian.Uint32(b[offSeq:]),
		clock:  Time(us) * Time(Microsecond),
		period: Duration(binary.LittleEndian.Uint32(b[offPeriod:])) * Microsecond,
	}
	return f, clockMin <= us && us <= clockMax && f.proper()
}

// clockMax and clockMin are about 146 years, half of the range of a Time: so the difference of two
// clocks fits into a Duration.
const clockMin, clockMax = -(1 << 62) / int64(Microsecond), (1 << 62) / int64(Microsecond)

// proper reports whether the fields are those of the kind. A period of 0 counts as absent.
func (f frame) proper() bool {
	switch f.kind {
	case kindBeat:
		return f.flags == 0 && f.period > 0
	case kindAdjust:
		return f.flags&^(flagByLink|flagEcho) == 0 && f.seq == 0 && f.period > 0
	case kindProbe, kindEcho:
		return f.flags == 0 && f.epoch == 0 && f.seq == 0 && f.period == 0
	}
	return false
}
