package repair

// Role is the part that a process has in an attempt.
type Role int

// The roles. A process stays Initial or Recovered until a Protect of it was agreed: before that it has received nothing.
//
//	attempt 1   0 dies, with version 1.4 committed
//	attempt 2   4 replaces 0; 3 dies while parts are moved, so nobody gets version 1.4
//	attempt 3   4 has seen an attempt, and still needs all that version 1.4 has
const (
	Initial   Role = iota // started with the job
	Survivor              // has what an earlier Protect restored
	Recovered             // has replaced another process
)

// A Stock tells whether the members of a process that a repair leaves to the living (static and forward ones) hold the
// data of its present rank. They do not in a process that has restored nothing yet, and in one that has restored them in a
// world of another size, where each rank has other rows:
//
//	4 ranks   0 to 3 commit version 1.7; 1 dies and is not replaced
//	3 ranks   rank 3 is rank 2 now, and gets the rows of that; 0 dies before anything is committed, two processes join
//	4 ranks   rank 2 restores version 1.7 of four ranks, and its static rows are still those of three
//
// The zero Stock holds the data of no rank.
type Stock struct{ size, rank int }

// Fits reports whether the members hold the data of the rank that run names.
func (s Stock) Fits(run Run) bool { return s == Stock{run.Size, run.Rank} }

// Take notes that the members are about to be overwritten: until Took they hold the data of no rank.
func (s *Stock) Take() { *s = Stock{} }

// Took notes that all members hold the data of the rank that run names.
func (s *Stock) Took(run Run) { *s = Stock{run.Size, run.Rank} }
