package membership

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

// The kinds of message: the first byte.
const (
	kindRing      byte = iota + 1 // digest of the news u64, then a message of the failure detector
	kindBeat                      // epoch, promised, seq, named, wrote epoch, wrote version
	kindGrant                     // epoch, seq, number, lease bool
	kindReport                    // epoch, silent set, ended set, unreachable set
	kindPropose                   // record
	kindWritten                   // epoch, version
	kindCanvass                   // epoch
	kindCanvassed                 // epoch, yes bool, promised
	kindSupport                   // epoch, record
	kindNews                      // see newsMessage
	kindHave                      // how many entries of each member's list: a number each
	kindDead                      // the receiver was declared dead
)

// A message is one of the types below, or those of news.go. Each is written by append and
// read back by parseMessage.
type message interface{ append(dst []byte) []byte }

// ringMessage carries one of the failure detector's.
type ringMessage struct {
	digest uint64 // of the sender's news
	inner  []byte // part of the received bytes
}

// beat is the sign of life that a member sends to its coordinator each Period.
type beat struct {
	epoch        uint32
	promised     uint32 // above epoch, it asks for a lease and is no support
	seq          uint64 // counts this member's beats
	named        uint64 // the last Number of this epoch's coordinator that came here; 0 if none
	wroteEpoch   uint32 // the record that this member has written down
	wroteVersion uint64
}

// grant answers a beat.
type grant struct {
	epoch  uint32
	seq    uint64 // the beat's
	number uint64 // counts the coordinator's answers to this member
	lease  bool   // it may run for a Timeout from the sending of that beat
}

// report is a member's evidence against others, for the coordinator. It replaces the previous one.
type report struct {
	epoch       uint32
	silent      rankset.Set // they did not answer the second check
	ended       rankset.Set // their connections ended, and new ones were refused
	unreachable rankset.Set // processes here cannot reach processes there
}

func (r report) isEmpty() bool {
	return r.silent.IsEmpty() && r.ended.IsEmpty() && r.unreachable.IsEmpty()
}

func (r report) equal(s report) bool {
	return r.epoch == s.epoch && r.silent.Equal(s.silent) && r.ended.Equal(s.ended) && r.unreachable.Equal(s.unreachable)
}

// propose asks a voter to write a record down.
type propose struct{ record Record }

// written answers propose.
type written struct {
	epoch   uint32
	version uint64
}

// canvass asks whether the receiver, too, has no coordinator, and would support that of epoch.
type canvass struct{ epoch uint32 }

// canvassed answers canvass. A member that has a coordinator names that coordinator.
type canvassed struct {
	epoch    uint32
	yes      bool
	promised uint32 // that of the sender's coordinator; if it has none, the one that it has promised
}

// support reports to the coordinator of an epoch that the sender obeys that coordinator, and none
// before it.
type support struct {
	epoch  uint32
	record Record // the newest record that the sender has written down
}

// dead notifies the receiver that it was declared.
type dead struct{}

func appendUint(dst []byte, values ...uint64) []byte {
	for _, v := range values {
		dst = wire.AppendUint(dst, v)
	}
	return dst
}

func (m ringMessage) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, kindRing), m.digest)
	return append(dst, m.inner...)
}

func (m beat) append(dst []byte) []byte {
	return appendUint(append(dst, kindBeat), uint64(m.epoch), uint64(m.promised), m.seq, m.named, uint64(m.wroteEpoch), m.wroteVersion)
}

func (m grant) append(dst []byte) []byte {
	return wire.AppendBool(appendUint(append(dst, kindGrant), uint64(m.epoch), m.seq, m.number), m.lease)
}

func (m report) append(dst []byte) []byte {
	dst = appendUint(append(dst, kindReport), uint64(m.epoch))
	dst = wire.AppendSet(dst, m.silent)
	dst = wire.AppendSet(dst, m.ended)
	return wire.AppendSet(dst, m.unreachable)
}

func (m propose) append(dst []byte) []byte { return appendRecord(append(dst, kindPropose), m.record) }

func (m written) append(dst []byte) []byte {
	return appendUint(append(dst, kindWritten), uint64(m.epoch), m.version)
}

func (m canvass) append(dst []byte) []byte {
	return appendUint(append(dst, kindCanvass), uint64(m.epoch))
}

func (m canvassed) append(dst []byte) []byte {
	dst = wire.AppendBool(appendUint(append(dst, kindCanvassed), uint64(m.epoch)), m.yes)
	return appendUint(dst, uint64(m.promised))
}

func (m support) append(dst []byte) []byte {
	return appendRecord(appendUint(append(dst, kindSupport), uint64(m.epoch)), m.record)
}

func (m dead) append(dst []byte) []byte { return append(dst, kindDead) }

func appendRecord(dst []byte, r Record) []byte {
	dst = appendUint(dst, uint64(r.Epoch))
	return wire.AppendSet(wire.AppendSet(dst, r.Dead), r.Last)
}

// parseMessage decodes b, in a job with the given number of members. It takes no more memory than b
// has bytes, except for a set with members that are far apart: a bit for each member.
func parseMessage(b []byte, members int) (message, error) {
	r := wire.NewReader(b)
	m := parseKind(r, members)
	if err := r.Done(); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, wire.ErrMalformed
	}
	return m, nil
}

func parseKind(r *wire.Reader, members int) message {
	switch r.Byte() {
	case kindRing:
		return ringMessage{digest: r.Uint64(), inner: r.Rest()}
	case kindBeat:
		return beat{epoch: readEpoch(r), promised: readEpoch(r), seq: r.Uint(), named: r.Uint(), wroteEpoch: readEpoch(r), wroteVersion: r.Uint()}
	case kindGrant:
		return grant{epoch: readEpoch(r), seq: r.Uint(), number: r.Uint(), lease: r.Bool()}
	case kindReport:
		return report{epoch: readEpoch(r), silent: r.Set(members), ended: r.Set(members), unreachable: r.Set(members)}
	case kindPropose:
		return readPropose(r, members)
	case kindWritten:
		return written{epoch: readEpoch(r), version: r.Uint()}
	case kindCanvass:
		return canvass{epoch: readEpoch(r)}
	case kindCanvassed:
		return canvassed{epoch: readEpoch(r), yes: r.Bool(), promised: readEpoch(r)}
	case kindSupport:
		return readSupport(r, members)
	case kindNews:
		return readNews(r, members)
	case kindHave:
		return readHave(r, members)
	case kindDead:
		return dead{}
	}
	return nil
}

func readEpoch(r *wire.Reader) uint32 { return uint32(r.Below(1 << 31)) }

func readPropose(r *wire.Reader, members int) message {
	record, ok := readRecord(r, members)
	if !ok {
		return nil
	}
	return propose{record: record}
}

func readSupport(r *wire.Reader, members int) message {
	epoch := readEpoch(r)
	record, ok := readRecord(r, members)
	if !ok {
		return nil
	}
	return support{epoch: epoch, record: record}
}

func readRecord(r *wire.Reader, members int) (Record, bool) {
	record := Record{Epoch: readEpoch(r), Dead: r.Set(members), Last: r.Set(members)}
	return record, record.Last.SubsetOf(record.Dead)
}
