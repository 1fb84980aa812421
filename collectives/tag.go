package collectives

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/engine"
)

// kind names a collective in headers and messages.
type kind uint8

const (
	barrier kind = iota + 1
	bcast
	bcastValue
	reduce
	allreduce
	gather
	gatherValue
	scatter
	allgather
	alltoall
)

var names = [...]string{barrier: "barrier", bcast: "bcast", bcastValue: "bcast_value", reduce: "reduce", allreduce: "allreduce",
	gather: "gather", gatherValue: "gather_value", scatter: "scatter", allgather: "allgather", alltoall: "alltoall"}

func (k kind) String() string {
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return fmt.Sprintf("collective %d", uint8(k))
}

// rooted says whether the collective has a root.
func (k kind) rooted() bool {
	switch k {
	case bcast, bcastValue, reduce, gather, gatherValue, scatter:
		return true
	}
	return false
}

// A header says which call a message belongs to. It travels as the message's
// tag: receives take any tag of a named peer and compare, so that members that
// called different collectives find out instead of exchanging bytes.
type header struct {
	note bool // a notice of an error, not data
	kind kind
	what int    // root; of allreduce the operation's code; else 0. Modulo 1<<whatBits
	seq  uint32 // number of the collective on the communicator, modulo 1<<seqBits
}

// Tags have 31 bits: note 1, unused 1, kind 5, what 10, seq 14.
const (
	seqBits  = 14
	whatBits = 10
	kindBits = 5

	whatShift = seqBits
	kindShift = whatShift + whatBits
	noteShift = kindShift + kindBits + 1
)

func (h header) tag() int {
	t := int(h.seq&(1<<seqBits-1)) | h.what&(1<<whatBits-1)<<whatShift | int(h.kind)<<kindShift
	if h.note {
		// Whoever waits for a notice knows its number only.
		t = int(h.seq&(1<<seqBits-1)) | 1<<noteShift
	}
	return t
}

func parse(tag int) header {
	return header{note: tag>>noteShift&1 == 1, kind: kind(tag >> kindShift & (1<<kindBits - 1)),
		what: tag >> whatShift & (1<<whatBits - 1), seq: uint32(tag & (1<<seqBits - 1))}
}

// ahead is how many calls a peer may be in front and still be taken as that;
// any other difference is a message left over from a call that failed.
const ahead = 1 << 10

// newer says whether sequence number a belongs to a later call than b.
func newer(a, b uint32) bool {
	d := (a - b) & (1<<seqBits - 1)
	return d != 0 && d < ahead
}

func (h header) String() string {
	switch {
	case h.kind.rooted():
		return fmt.Sprintf("%v (root %d)", h.kind, h.what)
	case h.kind == allreduce:
		return fmt.Sprintf("%v (%v)", h.kind, opCode(h.what))
	}
	return h.kind.String()
}

// A notice tells the others that a member's call failed for a reason that they
// cannot see: a wrong argument, or lengths that differ. Whoever waits for that
// member gets it instead of data, fails, and tells the others in turn. As all of
// them are in the same collective, each waits for members that either do their
// part or tell: nobody waits for ever.
type notice struct {
	cause  cause
	kind   kind // what the sender called
	origin int  // rank where the error was first seen
}

type cause uint8

const (
	wrongArgument cause = iota + 1
	mismatch
)

const noticeBytes = 8

func (n notice) append(b []byte) []byte {
	return append(b, byte(n.cause), byte(n.kind), 0, 0, byte(n.origin), byte(n.origin>>8), byte(n.origin>>16), byte(n.origin>>24))
}

func parseNotice(b []byte) notice {
	if len(b) < noticeBytes {
		return notice{cause: mismatch}
	}
	return notice{cause: cause(b[0]), kind: kind(b[1]), origin: int(b[4]) | int(b[5])<<8 | int(b[6])<<16 | int(b[7])<<24}
}

func tagEnvelope(rank int, h header, elem uint8) engine.Envelope {
	return engine.Envelope{Rank: rank, Tag: h.tag(), Class: engine.Collective, Elem: elem}
}
