package onenode

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// PublishLine makes v the contribution of this view's member to agreement seq.
func PublishLine(mem Memory, slot int, seq uint64, v era.Value) {
	l := Line{Call: v.Lo.Call, Flag: v.Flag}
	var long []byte
	if !isPlain(v) {
		long = era.AppendMessage(make([]byte, 0, longUsual), era.Up{Value: v})
		l.LongBytes = uint32(len(long))
	}
	mem.Publish(slot, seq, l, long)
}

// longUsual is room for most contributions of some ten members: the buffer grows for longer ones.
const longUsual = 64

func isPlain(v era.Value) bool {
	return v.Dead.IsEmpty() && v.Acked.IsEmpty() && v.Vetoes.IsEmpty() && len(v.Entries) == 0
}

// MergeLine merges into v the contribution of member m of the memory, which is rank of n, to
// agreement seq, and reports whether the contribution is there. Bytes that no correct member writes
// give a mismatch that names the rank, the same for all readers.
func MergeLine(v *era.Value, mem Memory, m, slot int, seq uint64, rank, n int) bool {
	l, there := mem.Read(m, slot, seq)
	switch {
	case !there:
		return false
	case l.LongBytes == 0:
		v.AddPlain(era.Claim{Call: l.Call, Rank: rank}, l.Flag)
		return true
	case l.LongBytes > uint32(LongMax(n)):
		v.Merge(broken(rank))
		return true
	}
	long := mem.Long(m, slot, int(l.LongBytes))
	if long == nil {
		return false
	}
	v.Merge(decodeLine(long, rank, n))
	return true
}

// decodeLine decodes the long part that a rank of n has published.
func decodeLine(long []byte, rank, n int) era.Value {
	v, err := era.DecodeUp(long, n)
	if err != nil || v.From.Len() != 1 || !v.From.Has(rank) {
		return broken(rank)
	}
	return v
}

// broken stands for bytes of a rank that no correct member writes. All read the
// same bytes, and so all get the same mismatch, which names the rank.
func broken(rank int) era.Value {
	return era.Value{From: rankset.Of(rank), Lo: era.Claim{Rank: rank}, Hi: era.Claim{Call: ^uint64(0), Rank: rank}}
}

// A decision word is the tag, the low bits of the agreement's number, and 1 + the member with the
// decisive value; 0: none yet.
const tagMask uint64 = 0xFFFF_FFFF << 32

// WordTag returns the half of a decision word that names the communicator: see Memory.Word.
func WordTag(word uint64) uint32 { return uint32(word >> 32) }

// DecisionWord returns the word with this meaning: member m has offered the decision of agreement
// k.
func DecisionWord(tag uint32, k uint64, m int) uint64 {
	return uint64(tag)<<32 | uint64(uint16(k))<<16 | uint64(m+1)
}

// Winner returns the member that a decision word names for agreement k, or -1: the word is older.
// An older word is of k-Slots, or of no agreement: once an agreement is decided by its word a
// member has stopped before, so all later agreements are decided by their words. (Where all are,
// that holds at once.) Six bits of the number would distinguish these; the word has room for
// sixteen.
func Winner(word, k uint64) int {
	if uint16(word>>16) != uint16(k) {
		return -1
	}
	return int(uint16(word)) - 1
}

// OfferDecision makes v the value of this view's member, for a decision word to name.
func OfferDecision(mem Memory, slot int, v era.Value) {
	mem.Offer(slot, era.AppendMessage(nil, era.Down{Value: v}))
}

// Decision returns the value that member m, rank of n, has offered, and whether it is there.
func Decision(mem Memory, m, slot, rank, n int) (era.Value, bool) {
	b := mem.Value(m, slot)
	if b == nil {
		return era.Value{}, false
	}
	msg, err := era.DecodeMessage(b, n)
	down, ok := msg.(era.Down)
	if err != nil || !ok {
		return broken(rank), true
	}
	return down.Value, true
}
