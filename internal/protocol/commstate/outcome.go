package commstate

import "fmt"

// Undefined is the colour of a member that gets no communicator from a split.
const Undefined = -32766

// Group lists the members of a communicator, as seen by one of them.
type Group struct {
	Index   uint32   // the context index that this member drew for the communicator
	UID     UID      // the communicator's name, the same at all members
	Procs   []int    // the members' world processes; Procs[r] is rank r
	Indices []uint32 // the context index that each member drew; Indices[Me] == Index
	Me      int      // this member's rank

	// Fresh means that the first member was started for this communicator. No process has
	// prepared its block, which still has its initial content (see onenode.Config.Tag).
	Fresh bool
}

// Size returns the number of members.
func (g *Group) Size() int { return len(g.Procs) }

// NewComm is the communicator that a shrink, dup, split or the like made.
type NewComm = Group

// Outcome is the result of a call that ends in an agreement. Flag, Dead and the
// class of Err are the same at all members that get an Outcome of one agreement.
// Only a revocation may end a creation at some members while others succeed.
type Outcome struct {
	Seq  uint64   // the agreement's number in its series; 0 if there was none
	Call Call     // the call of this member
	Flag uint64   // AND over the contributors; valid with ulfm.ErrProcFailed too (R30)
	Dead []int    // ranks agreed to have failed, ascending
	Err  error    // nil, *ulfm.Error, or a class
	New  *NewComm // for shrink and creations: the communicator; nil with an error or colour Undefined
}

// String prints o on one line.
func (o Outcome) String() string {
	made := "none"
	if g := o.New; g != nil {
		made = fmt.Sprintf("%v index %d, rank %d of %v", g.UID, g.Index, g.Me, g.Procs)
	}
	return fmt.Sprintf("{%v #%d flag %#x dead %v error %v new %s}", o.Call, o.Seq, o.Flag, o.Dead, o.Err, made)
}
