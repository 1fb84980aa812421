package era

import (
	"encoding/binary"
	"slices"

	"github.com/goulfm/goulfm/internal/base/wire"
)

// Clone returns a copy that shares no mutable state, for searches that visit every state. The
// actions of the last Step stay with the original.
func (s *Series) Clone() *Series {
	d := *s
	d.teams = s.teams.clone()
	d.closed, d.dead, d.gone = s.closed.Clone(), s.dead.Clone(), s.gone.Clone()
	d.out, d.settled, d.queue = nil, nil, slices.Clone(s.queue)
	d.records = make([]*agreement, len(s.records))
	for i, a := range s.records {
		if a == nil {
			continue
		}
		b := *a
		b.member = &d.member
		b.value = a.value.Clone()
		b.contributors, b.requesters, b.asked = a.contributors.Clone(), a.requesters.Clone(), a.asked.Clone()
		d.records[i] = &b
	}
	return &d
}

// AppendState appends the state on which the next Steps depend, without the clock and the watchdog:
// two Series of the same Config and the same appended state return the same actions.
func (s *Series) AppendState(b []byte) []byte {
	b = wire.AppendSet(wire.AppendSet(wire.AppendSet(b, s.closed), s.dead), s.gone)
	if s.teams != nil {
		b = wire.AppendSet(b, s.teams.stopped)
		for _, i := range s.teams.speaker {
			b = binary.AppendUvarint(b, uint64(i))
		}
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, s.entered), s.low)
	b = binary.AppendUvarint(b, uint64(len(s.queue)))
	for _, q := range s.queue {
		b = appendValue(wire.AppendBool(b, q.Again), q.Value)
	}
	for _, dead := range s.agreedDead {
		b = wire.AppendSet(b, dead)
	}
	for _, a := range s.records {
		if a == nil {
			b = append(b, 255)
			continue
		}
		b = append(b, byte(a.state), byte(a.parent+1))
		b = appendValue(b, a.value)
		b = wire.AppendSet(wire.AppendSet(wire.AppendSet(b, a.contributors), a.requesters), a.asked)
	}
	return b
}
