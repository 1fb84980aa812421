package commstate

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Failed is one member's record of the failed members of one communicator: their
// ranks in the order in which the member learnt of them. A prefix of the list is
// acknowledged.
//
// The list is never sorted: of two results of All the shorter is a prefix of
// the longer (R20), so "acknowledge the first n" means the same failures to the
// program and to the library. Acknowledgements belong to one member and one
// communicator, and no member adopts those of another (R24). Contributions to
// agreements carry a copy of the acknowledged set (A5).
type Failed struct {
	size  int         // members of the communicator
	order []int       // ranks in learning order; append only
	known rankset.Set // the same ranks
	acked int         // length of the acknowledged prefix of order; never shrinks
}

// NewFailed returns the empty record of a communicator of size members.
func NewFailed(size int) *Failed { return &Failed{size: size} }

// Learn records that rank has failed and reports whether that was new.
func (f *Failed) Learn(rank int) bool {
	if !f.known.Add(rank) {
		return false
	}
	f.order = append(f.order, rank)
	return true
}

// Has reports whether rank is known to have failed.
func (f *Failed) Has(rank int) bool { return f.known.Has(rank) }

// Len returns the number of known failures.
func (f *Failed) Len() int { return len(f.order) }

// All returns the failed ranks in the order of learning (R19, R20). The slice
// is the caller's.
func (f *Failed) All() []int { return slices.Clone(f.order) }

// Set returns the failed ranks as a set that is the caller's.
func (f *Failed) Set() rankset.Set { return f.known.Clone() }

// Ack acknowledges the first n known failures, or all if fewer are known, and returns the total
// number of acknowledged failures. The total is above n if an earlier call acknowledged more.
// Ack(0) acknowledges nothing; Ack(size) acknowledges all known failures. An n outside 0..size is
// ErrLength (R21).
func (f *Failed) Ack(n int) (acked int, err error) {
	if n < 0 || n > f.size {
		return f.acked, fmt.Errorf("%w: acknowledge %d failures of %d ranks", ErrLength, n, f.size)
	}
	f.acked = max(f.acked, min(n, len(f.order)))
	return f.acked, nil
}

// Acked returns the acknowledged failures in the order of learning (R25). The
// slice is the caller's.
func (f *Failed) Acked() []int { return slices.Clone(f.order[:f.acked]) }

// AckedSet returns the acknowledged failures as a set that is the caller's.
func (f *Failed) AckedSet() rankset.Set { return rankset.Of(f.order[:f.acked]...) }

// Unacked reports whether a known failure is not acknowledged. As long as one is
// not, receives from any rank report it (R22, R26).
func (f *Failed) Unacked() bool { return f.acked < len(f.order) }
