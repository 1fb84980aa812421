package repair

import "slices"

// Role is the role of a process in an attempt.
type Role int

// The roles. A process stays Initial or Recovered until a Protect of it was agreed: before that it
// has received nothing.
//
//	attempt 1   0 dies, with version 1.4 committed
//	attempt 2   4 replaces 0; 3 dies while parts are moved, so nobody gets version 1.4
//	attempt 3   4 has seen an attempt, and still needs all data of version 1.4
const (
	Initial   Role = iota // started with the job
	Survivor              // has the data of an earlier Protect
	Recovered             // has replaced another process
)

// A Stock records whether the members that a repair does not roll back in survivors (static and
// forward ones) hold the data of the process's present rank. They do not in a process that has
// restored nothing yet. Nor do they after a restore in a world of another size, where each rank has
// other rows:
//
//	4 ranks   0 to 3 commit version 1.7; 1 dies and is not replaced
//	3 ranks   rank 3 is rank 2 now, and gets the rows of that; 0 dies before anything is
//	          committed, two processes join
//	4 ranks   rank 2 restores version 1.7 of four ranks; its static rows are still those of three
//
// Nor do they hold the data of a version that this process has neither restored nor made. Forward
// members may be older than that version:
//
//	0 to 3   have made version 5.7; so many die that it is not whole, and version 1.1 is restored
//	         from files
//	4        is new, restores 1.1, and makes 6.2 with the others
//	all      roll back once more; by now 5.7 is whole after all, in a home that nobody could read
//	         before
//
// The zero Stock holds the data of no rank.
type Stock struct {
	size, rank int
	been       []span // versions that were restored or made, the newest last
}

// span is a run of consecutive versions of one epoch.
type span struct{ epoch, from, to uint64 }

// spansMax bounds the spans of a Stock: one for each attempt. An older version is restored
// as a whole.
const spansMax = 64

// Fits reports whether the members hold the data of the rank that run names, as of version l or
// later; the zero version is that of the initial values.
func (s *Stock) Fits(run Run, l Label) bool {
	return s.size == run.Size && s.rank == run.Rank && (l.IsZero() || s.knows(l))
}

func (s *Stock) knows(l Label) bool {
	return slices.ContainsFunc(s.been, func(x span) bool { return x.epoch == l.Epoch && x.from <= l.Number && l.Number <= x.to })
}

// Take records that the members are about to be overwritten: until Took they hold the data of no
// rank.
func (s *Stock) Take() { s.size = 0 }

// Took records that the members hold the data of the rank that run names, as of version l. Other
// versions no longer count, unless stood is true: the members were not overwritten.
func (s *Stock) Took(run Run, l Label, stood bool) {
	if !stood {
		s.been = nil
	}
	s.size, s.rank = run.Size, run.Rank
	s.Made(l)
}

// Made records that this process has put its members into version l.
func (s *Stock) Made(l Label) {
	switch last := len(s.been) - 1; {
	case l.IsZero() || s.knows(l):
	case last >= 0 && s.been[last].epoch == l.Epoch && s.been[last].to+1 == l.Number:
		s.been[last].to++
	default:
		s.been = append(s.been[max(last+2-spansMax, 0):], span{l.Epoch, l.Number, l.Number})
	}
}
