package control

import (
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// A frame is one class byte and a body:
//
//	detector     a message of fd
//	member       a message between two members of a communicator
//	digest       eight bytes: a digest of the revoked communicators
//	list         the uids of the revoked communicators
//	closed       the communicator of this index is closed here, and the reason
//
// No frame names a communicator by its uid except lists, which are rare.
const (
	classDetector byte = iota + 1
	classMember
	classDigest
	classList
	classClosed
)

// memberFrame is a message between two members of a communicator. The frame carries both members'
// context indices: the receiver finds the communicator by its own index, and can answer with the
// sender's index even when it has forgotten the communicator.
type memberFrame struct {
	to, from uint32 // context indices of receiver and sender
	part     commstate.Part
	seq      uint64
	msg      []byte
}

func (f memberFrame) append(dst []byte) []byte {
	dst = append(dst, classMember)
	dst = wire.AppendUint(dst, uint64(f.to))
	dst = wire.AppendUint(dst, uint64(f.from))
	dst = append(dst, byte(f.part))
	dst = wire.AppendUint(dst, f.seq)
	return append(dst, f.msg...)
}

func readMember(r *wire.Reader) (memberFrame, error) {
	f := memberFrame{to: readIndex(r), from: readIndex(r), part: commstate.Part(r.Byte()), seq: r.Uint()}
	err := r.Err()
	f.msg = r.Rest()
	return f, err
}

// uidList is the list of revoked communicators that sender and receiver are members of.
type uidList struct {
	answer bool // the receiver shall send its own list if it has more
	uids   []commstate.UID
}

func (l uidList) append(dst []byte) []byte {
	dst = append(dst, classList)
	dst = wire.AppendBool(dst, l.answer)
	for _, u := range l.uids {
		dst = append(dst, u[:]...)
	}
	return dst
}

func readList(r *wire.Reader) (uidList, error) {
	l := uidList{answer: r.Bool()}
	if err := r.Err(); err != nil {
		return l, err
	}
	rest := r.Rest()
	for len(rest) >= len(commstate.UID{}) {
		l.uids = append(l.uids, commstate.UID(rest[:len(commstate.UID{})]))
		rest = rest[len(commstate.UID{}):]
	}
	return l, wire.NewReader(rest).Done()
}

// closedNote notifies a member that this process has closed a communicator, or never joined it.
type closedNote struct {
	to uint32 // context index of the receiver

	// ended: the closing agreement has decided here, with these orphans. Otherwise this process
	// never joined the communicator.
	ended   bool
	orphans []commstate.Orphan
}

func (n closedNote) append(dst []byte) []byte {
	dst = append(dst, classClosed)
	dst = wire.AppendUint(dst, uint64(n.to))
	dst = wire.AppendBool(dst, n.ended)
	for _, o := range n.orphans {
		dst = wire.AppendUint(dst, uint64(o.Rank))
		dst = wire.AppendUint(dst, o.Seq)
	}
	return dst
}

func readClosed(r *wire.Reader) (closedNote, error) {
	n := closedNote{to: readIndex(r), ended: r.Bool()}
	rest := wire.NewReader(r.Rest())
	for rank := rest.Uint(); rest.Err() == nil; rank = rest.Uint() {
		n.orphans = append(n.orphans, commstate.Orphan{Rank: int(min(rank, 1<<31)), Seq: rest.Uint()})
	}
	return n, r.Err()
}

func readIndex(r *wire.Reader) uint32 { return uint32(r.Below(1 << 32)) }
