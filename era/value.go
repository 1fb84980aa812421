package era

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Value is the data that an agreement combines (A13): at first one member's contribution, in the
// end the decision. The zero Value is the identity of Merge.
//
// Fields other than Dead mean something only if From is not empty.
type Value struct {
	From     rankset.Set // members with a contribution in this Value
	Lo, Hi   Claim       // least and greatest claim, by Call, then by Rank
	Vetoes   rankset.Set // contributors that voted no
	Flag     uint64      // AND over the contributors (R27)
	Dead     rankset.Set // union: deaths that a contributor or the decider knew when it sent
	Acked    rankset.Set // intersection of the acknowledged sets of the contributors at entry (A5)
	Returned uint64      // minimum over the contributors of "every agreement below this one is decided here" (rule 8)
	Entries  []Entry     // payloads, by ascending Rank, at most one per contributor
}

// Claim identifies the call of member Rank: the kind of the call in the upper half of Call, an
// argument such as the root in the lower. This package only compares.
type Claim struct {
	Call uint64
	Rank int
}

// Entry is the payload of contributor Rank. Data is shared and never written.
type Entry struct {
	Rank int
	Data []byte
}

// Merge combines w into v: F of ERA, section 2. Merge is associative, commutative and idempotent
// (A7: a contribution may arrive over two paths), provided that all contributions of one member
// agree in everything but Dead and Returned. Merge copies all parts of w but payload bytes.
func (v *Value) Merge(w Value) {
	v.Dead.Union(w.Dead)
	if w.From.IsEmpty() {
		return
	}
	if v.From.IsEmpty() {
		dead := v.Dead
		*v = w.Clone()
		v.Dead = dead
		return
	}
	v.From.Union(w.From)
	v.Lo = minClaim(v.Lo, w.Lo)
	v.Hi = maxClaim(v.Hi, w.Hi)
	v.Vetoes.Union(w.Vetoes)
	v.Flag &= w.Flag
	v.Acked.Intersect(w.Acked)
	v.Returned = min(v.Returned, w.Returned)
	v.Entries = mergeEntries(v.Entries, w.Entries)
}

// AddPlain is Merge of a contribution that has a claim and a flag alone: no death is known to its
// member, none is acknowledged, nothing else is contributed. AddPlain makes no set for one rank; an
// agreement of n members would otherwise make n sets of n bits each.
func (v *Value) AddPlain(c Claim, flag uint64) {
	if v.From.IsEmpty() {
		v.Merge(Value{From: rankset.Of(c.Rank), Lo: c, Hi: c, Flag: flag})
		return
	}
	v.From.Add(c.Rank)
	v.Lo, v.Hi = minClaim(v.Lo, c), maxClaim(v.Hi, c)
	v.Flag &= flag
	v.Acked = rankset.Set{}
	v.Returned = min(v.Returned, 0)
}

// Failed reports whether the agreement returns a process failure: some agreed death had not been
// acknowledged by every contributor before its entry (R28, rule 7).
//
// A test of the dead that did not contribute is not enough (A5b). With three members: 1 enters, its
// UP reaches 0, 1 dies; 2 entered before it knew, acked {}; 0 learns of the death, acknowledges
// {1}, enters. 1 did contribute, so that test would find no error, while 0 and 2 have acknowledged
// different sets. With this test success implies acked = Dead at every contributor, because a
// member also reports each acknowledged death as dead: acked <= Dead <= Acked <= acked (R36).
func (v Value) Failed() bool { return !v.Dead.SubsetOf(v.Acked) }

// Mismatch reports whether members made different calls; Lo and Hi name two of them.
func (v Value) Mismatch() bool { return v.Lo.Call != v.Hi.Call }

// Clone returns a copy that shares nothing with v but payload bytes.
func (v Value) Clone() Value {
	v.From, v.Vetoes = v.From.Clone(), v.Vetoes.Clone()
	v.Dead, v.Acked = v.Dead.Clone(), v.Acked.Clone()
	v.Entries = slices.Clone(v.Entries)
	return v
}

// Equal reports whether v and w are the same in every field.
func (v Value) Equal(w Value) bool {
	return v.Lo == w.Lo && v.Hi == w.Hi && v.Flag == w.Flag && v.Returned == w.Returned &&
		v.From.Equal(w.From) && v.Vetoes.Equal(w.Vetoes) && v.Dead.Equal(w.Dead) && v.Acked.Equal(w.Acked) &&
		slices.EqualFunc(v.Entries, w.Entries, func(a, b Entry) bool {
			return a.Rank == b.Rank && string(a.Data) == string(b.Data)
		})
}

// String prints v on one line; empty claims, vetoes and entries are left out.
func (v Value) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "from=%v flag=%d dead=%v acked=%v", v.From, v.Flag, v.Dead, v.Acked)
	if v.Lo.Call != 0 || v.Hi.Call != 0 {
		fmt.Fprintf(&b, " calls=%d@%d..%d@%d", v.Lo.Call, v.Lo.Rank, v.Hi.Call, v.Hi.Rank)
	}
	if !v.Vetoes.IsEmpty() {
		fmt.Fprintf(&b, " vetoes=%v", v.Vetoes)
	}
	for _, e := range v.Entries {
		fmt.Fprintf(&b, " %d:%q", e.Rank, e.Data)
	}
	return b.String()
}

func (c Claim) compare(d Claim) int {
	return cmp.Or(cmp.Compare(c.Call, d.Call), cmp.Compare(c.Rank, d.Rank))
}

func minClaim(c, d Claim) Claim {
	if c.compare(d) <= 0 {
		return c
	}
	return d
}

func maxClaim(c, d Claim) Claim {
	if c.compare(d) >= 0 {
		return c
	}
	return d
}

// mergeEntries merges two lists sorted by rank; of two entries of one rank, which
// are equal, it keeps one.
func mergeEntries(a, b []Entry) []Entry {
	if len(b) == 0 {
		return a
	}
	out := make([]Entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Rank < b[0].Rank:
			out, a = append(out, a[0]), a[1:]
		case a[0].Rank > b[0].Rank:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
