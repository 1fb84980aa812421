package world

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// GroupKey names a communicator in the whole run. The uid alone is not enough: members that decided
// a shrink and all died may have had another group under the same uid than the survivors (A17).
type GroupKey struct {
	uid     commstate.UID
	members Hash
}

// KeyOf returns the name of the communicator of a group.
func KeyOf(g commstate.Group) GroupKey {
	members := NewHash()
	for rank, p := range g.Procs {
		members.Add(uint64(p)<<32 | uint64(g.Indices[rank]))
	}
	return GroupKey{uid: g.UID, members: members}
}

func (k GroupKey) String() string { return k.uid.String() }

// AgreementKey names an agreement in the whole run.
type AgreementKey struct {
	Comm   GroupKey
	Series commstate.Series
	Seq    uint64
}

// Agreement is the record of one agreement, kept by a checker.
type Agreement struct {
	Group     commstate.Group // as any member sees it
	Entered   rankset.Set
	Acked     []rankset.Set // by rank: acknowledged at entry
	Dead      []rankset.Set // by rank: known to be dead at entry
	Decisions []Decision
}

// Decision is the result of an agreement at one process.
type Decision struct {
	Proc int
	Text string // equal at all members
}

// Creation is the record of a communicator's creation.
type Creation struct {
	Group commstate.Group // as the first member saw it
	From  AgreementKey
}

// DrawnIndex is a context index that a process has drawn.
type DrawnIndex struct {
	Proc  int
	Index uint32
}

// DecisionText returns the part of a decision that all members share. The group of a split differs
// by colour, so the checks compare its uid.
func DecisionText(key AgreementKey, out commstate.Outcome) string {
	if key.Series == commstate.SeriesClose { // carries nothing
		return "closed"
	}
	return fmt.Sprintf("flag %x dead %v error %s ranks %v", out.Flag, out.Dead, ClassName(out.Err), RanksOf(out.Err))
}

// ClassName returns the error without the operation, which differs between members.
func ClassName(err error) string {
	var e *ulfm.Error
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	if err != nil {
		return err.Error()
	}
	return "none"
}

// RanksOf returns the ranks that an error names.
func RanksOf(err error) []int {
	var e *ulfm.Error
	if errors.As(err, &e) {
		return e.Ranks
	}
	return nil
}

// KeepsErrorRule reports whether the outcome of a call obeys R28 and R36. Calls other than agree
// always do.
func (a *Agreement) KeepsErrorRule(call commstate.Call, out commstate.Outcome) bool {
	if call.Kind != commstate.KindAgree || errors.Is(out.Err, commstate.ErrMismatch) {
		return true
	}
	dead, all := rankset.Of(out.Dead...), true
	for rank := range a.Group.Procs {
		if out.Flag>>rank&1 == 0 && !a.Acked[rank].Equal(dead) {
			all = false
		}
	}
	return all == (out.Err == nil)
}
