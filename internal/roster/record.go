package roster

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/rankset"
)

// A Record is one version of the roster: who was declared dead. Version 0 is that nobody
// was. Version v differs from v-1 by Last alone.
type Record struct {
	Epoch   uint32      // of the head that asked for it to be written down
	Version uint64      //
	Dead    rankset.Set // all that were ever declared
	Last    rankset.Set // those that this version declares; part of Dead
}

// newer says whether r goes before s: a later head's record does, and a later version of
// the same head.
func (r Record) newer(s Record) bool {
	return r.Epoch > s.Epoch || r.Epoch == s.Epoch && r.Version > s.Version
}

// voters returns who decides about the version after r.
func (r Record) voters(members int) rankset.Set {
	all := rankset.Range(0, members)
	all.Subtract(r.Dead)
	return all
}

// votersBefore returns who decides about r itself.
func (r Record) votersBefore(members int) rankset.Set {
	all := r.voters(members)
	all.Union(r.Last)
	return all
}

// next returns the version after r, in which some more are dead.
func (r Record) next(epoch uint32, dead rankset.Set) Record {
	all := r.Dead.Clone()
	all.Union(dead)
	return Record{Epoch: epoch, Version: r.Version + 1, Dead: all, Last: dead.Clone()}
}

// under returns r as another head asks for it.
func (r Record) under(epoch uint32) Record {
	r.Epoch = epoch
	return r
}

func (r Record) String() string {
	return fmt.Sprintf("%d.%d dead %v", r.Epoch, r.Version, r.Dead)
}

// isMajority says whether yes is more than half of the voters, or half of them with the
// least of all. Two majorities of the same voters always have a member in common.
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
