package repair

import (
	"cmp"
	"strconv"
)

// Label names a version. A number alone is not enough:
//
//	version 10 is complete at A only, when C dies
//	all roll back to 9, continue, and make another 10; A dies before it has written that
//	A's successor finds the first 10, the others have the second: one label, two states
//
// So the epoch of the attempt that made a version precedes its number. Each attempt with a Protect
// has an epoch above all that any member has seen.
type Label struct{ Epoch, Number uint64 }

// Less reports whether l is older than m.
func (l Label) Less(m Label) bool { return l.compare(m) < 0 }

// compare is negative if l is older than m, and 0 if it is m.
func (l Label) compare(m Label) int {
	return cmp.Or(cmp.Compare(l.Epoch, m.Epoch), cmp.Compare(l.Number, m.Number))
}

// IsZero reports that there is no version: the program's initial values are valid.
func (l Label) IsZero() bool { return l == Label{} }

// String prints "epoch.number".
func (l Label) String() string {
	return strconv.FormatUint(l.Epoch, 10) + "." + strconv.FormatUint(l.Number, 10)
}
