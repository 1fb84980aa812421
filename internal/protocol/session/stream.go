package session

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/must"
)

// outgoing is the unacknowledged part of this process's stream: acked <= queued.
type outgoing struct {
	queued uint64 // bytes ever appended
	acked  uint64 // bytes that the peer's engine is known to have taken
	// spans are the bytes from acked to queued, in order, by the way in which they are kept.
	// Neighbours differ in kind.
	spans    []span
	copied   int // sum of the spans in the ring
	referred int // sum of the others
}

type span struct {
	bytes    int // above 0
	referred bool
}

// incoming is the peer's stream: told <= taken <= received.
type incoming struct {
	received uint64
	taken    uint64
	told     uint64 // the count in the last acknowledgement on this connection
	due      bool   // acknowledge without waiting for a quarter
}

// Room returns how many bytes may be appended now: by copy and by reference.
func (s *Session) Room() (copied, referred int) {
	if s.state == Ended || s.end.wanted {
		return 0, 0
	}
	return s.cfg.Copied - s.out.copied, s.cfg.Referred - s.out.referred
}

// Unacked returns how many bytes of this process's stream are not acknowledged.
func (s *Session) Unacked() uint64 { return s.out.queued - s.out.acked }

// Incoming returns how many bytes of the peer's stream have arrived, and how many the engine has
// taken.
func (s *Session) Incoming() (received, taken uint64) { return s.in.received, s.in.taken }

func (s *Session) append(ev Append) {
	copied, referred := s.Room()
	must.That(0 <= ev.Copied && ev.Copied <= copied && 0 <= ev.Referred && ev.Referred <= referred,
		"append %d and %d bytes, room for %d and %d", ev.Copied, ev.Referred, copied, referred)
	s.out.keep(ev.Copied, false)
	s.out.keep(ev.Referred, true)
	s.want()
}

func (o *outgoing) keep(bytes int, referred bool) {
	if bytes == 0 {
		return
	}
	o.queued += uint64(bytes)
	if referred {
		o.referred += bytes
	} else {
		o.copied += bytes
	}
	if last := len(o.spans) - 1; last >= 0 && o.spans[last].referred == referred {
		o.spans[last].bytes += bytes
		return
	}
	o.spans = append(o.spans, span{bytes: bytes, referred: referred})
}

// forget drops the kept bytes below to.
func (o *outgoing) forget(to uint64) {
	rest := int(to - o.acked)
	o.acked = to
	gone := 0
	for rest > 0 {
		first := &o.spans[gone]
		n := min(rest, first.bytes)
		first.bytes -= n
		rest -= n
		if first.referred {
			o.referred -= n
		} else {
			o.copied -= n
		}
		if first.bytes == 0 {
			gone++
		}
	}
	o.spans = append(o.spans[:0], o.spans[gone:]...)
}

// acked applies an acknowledgement. An acknowledgement older than the last is ignored.
func (s *Session) acked(c Conn, taken uint64) {
	if c != s.Current() || taken <= s.out.acked {
		return
	}
	if taken > s.out.queued {
		s.anomalousCount(c, taken)
		return
	}
	s.out.forget(taken)
	s.act(Release{To: taken})
}

func (s *Session) arrived(c Conn, bytes int) {
	must.That(bytes >= 0, "%d bytes arrived", bytes)
	if c == s.Current() && c != 0 {
		s.in.received += uint64(bytes)
	}
}

func (s *Session) take(ev Taken) {
	must.That(ev.Bytes >= 0 && uint64(ev.Bytes) <= s.in.received-s.in.taken,
		"took %d bytes, %d are here", ev.Bytes, s.in.received-s.in.taken)
	s.in.taken += uint64(ev.Bytes)
	s.in.due = s.in.due || ev.Ask
}

// acknowledge sends the number of bytes that the engine has taken, if an acknowledgement is due or
// a quarter of the ring was taken.
func (s *Session) acknowledge() {
	quarter := s.in.taken-s.in.told >= uint64(s.cfg.Copied/4)
	if (s.in.due || quarter) && s.in.taken > s.in.told {
		s.in.told = s.in.taken
		s.act(WriteAck{Conn: s.conn, Taken: s.in.taken})
	}
	s.in.due = false
}

func describeCount(count uint64, o outgoing) string {
	return fmt.Sprintf("%d bytes, of %d sent and %d acknowledged", count, o.queued, o.acked)
}
