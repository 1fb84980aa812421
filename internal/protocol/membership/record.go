package membership

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A Record is one version of the roster: the members that were declared dead. Versions that count
// are a chain, each with more dead than the one before, so the number of the dead is their number.
type Record struct {
	Epoch uint32      // of the coordinator that asked for it to be written down
	Dead  rankset.Set // all that were ever declared
	Last  rankset.Set // those that this version declares, and the one before does not; part of Dead
}

// version numbers r among those of one coordinator.
func (r Record) version() uint64 { return uint64(r.Dead.Len()) }

// newer reports whether r precedes s: a later coordinator's record does, and so does a later
// version of the same coordinator.
func (r Record) newer(s Record) bool {
	return r.Epoch > s.Epoch || r.Epoch == s.Epoch && r.version() > s.version()
}

// voters returns the members that decide about the version after r.
func (r Record) voters(members int) rankset.Set {
	all := rankset.Range(0, members)
	all.Subtract(r.Dead)
	return all
}

// votersBefore returns the members that decide about r itself.
func (r Record) votersBefore(members int) rankset.Set {
	all := r.voters(members)
	all.Union(r.Last)
	return all
}

// next returns the version after r, in which some more are dead.
func (r Record) next(dead rankset.Set) Record {
	all := r.Dead.Clone()
	all.Union(dead)
	return Record{Epoch: r.Epoch, Dead: all, Last: dead.Clone()}
}

// under returns r as a later coordinator continues from it, which knows that the declared are dead:
// other deaths in r may or may not count already, and are proposed again.
func (r Record) under(epoch uint32, declared rankset.Set) Record {
	all := declared.Clone()
	all.Union(r.Dead)
	open := r.Last.Clone()
	open.Subtract(declared)
	return Record{Epoch: epoch, Dead: all, Last: open}
}

func (r Record) String() string {
	return fmt.Sprintf("dead %v in epoch %d", r.Dead, r.Epoch)
}

// isMajority reports whether yes is more than half of the voters, or half of them with the least of
// all. Two majorities of the same voters always have a member in common.
func isMajority(yes, voters rankset.Set) bool {
	have := yes.Clone()
	have.Intersect(voters)
	switch all := voters.Len(); {
	case 2*have.Len() > all:
		return true
	case 2*have.Len() == all && all > 0:
		return have.Has(voters.Next(0))
	}
	return false
}
