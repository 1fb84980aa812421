package control

import (
	"errors"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// Finalize ends with a closing agreement on the world. Closing agreements have a numbering of their
// own, so a closing agreement alone never meets another call. Then a member in Finalize and others
// in recovery would wait for each other for ever:
//
//	1 dies. 0 has not needed 1 and is in Finalize; 2 and 3 have met the error, and are in
//	Shrink, which waits for 0.
//
// So a member in Finalize first takes its place in the other two sequences, repair and create, of
// the world and of each other communicator all of whose members are of its world. There Finalize
// meets the calls of other members: an agree, a shrink or a creation ends with ErrMismatch at all
// members, and the error names both calls. Finalize begins to close only when both sequences of the
// world have found every member in Finalize.
//
// On other communicators Finalize does not wait: some members may have freed the communicator, and
// others not. The members that still have the communicator only learn that this member makes no
// other call there. Finalize skips a communicator with processes of another world: these processes
// may continue to use the communicator, and learn that this process has ended.
//
// A place is kept even if Finalize ends in a mismatch on another communicator: the next Finalize
// uses the place.

// sequences is the number of sequences in which Finalize takes a place.
const sequences = 2

// kindIn is the kind of Finalize's call in a sequence.
func kindIn(s commstate.Series) commstate.Kind {
	if s == commstate.SeriesCreate {
		return commstate.KindEndCreations
	}
	return commstate.KindEnd
}

// ending is the progress of Finalize before it closes the world.
type ending struct {
	ev   Propose // of the call
	open bool    // the call is neither answered nor closing
	met  places  // of the world: whether every member was found in Finalize
}

// places holds one flag for each sequence.
type places [sequences]bool

// endsOnMost bounds the communicators on which Finalize takes a place: the newest ones.
const endsOnMost = 256

// beginEnding takes part in Finalize.
func (c *Control) beginEnding(ev Propose) {
	c.ending.ev, c.ending.open = ev, true
	var live []*communicator
	for cm := range c.comm.comms() {
		if cm.index() != c.world && cm.hidden == nil && !cm.Closing() && c.ofMyWorld(cm) {
			live = append(live, cm)
		}
	}
	for _, cm := range live[max(len(live)-endsOnMost, 0):] {
		c.takePlaces(cm)
	}
	c.takePlaces(c.comm.live(c.world))
	c.closeIfMet()
}

// ofMyWorld reports whether all members of cm are processes of this process's world.
func (c *Control) ofMyWorld(cm *communicator) bool {
	world := c.comm.live(c.world)
	for _, proc := range cm.Group().Procs {
		if _, belongs := world.rank(proc); !belongs {
			return false
		}
	}
	return true
}

// takePlaces contributes to the next agreement of each sequence, unless this process has
// contributed already. On a revoked communicator creations fail by themselves, so no member waits
// there.
func (c *Control) takePlaces(cm *communicator) {
	for s := range commstate.Series(sequences) {
		met := cm.index() == c.world && c.ending.met[s]
		switch revoked := cm.IsRevoked() && s == commstate.SeriesCreate; {
		case met || cm.ends[s]:
		case revoked:
			c.foundAll(cm, s)
		default:
			cm.ends[s] = true
			c.contribute(cm, Propose{Comm: cm.index(), Token: c.ending.ev.Token, Call: commstate.Call{Kind: kindIn(s)}})
		}
	}
}

// placeDecided handles the end of an agreement in which this process has taken a place.
func (c *Control) placeDecided(cm *communicator, p commstate.Proposal, err error) {
	cm.ends[p.Series] = false
	c.act(Placed{Comm: cm.index()})
	if !errors.Is(err, commstate.ErrMismatch) {
		c.foundAll(cm, p.Series)
		return
	}
	if c.ending.open {
		c.ending.open = false
		c.act(Decided{Comm: c.world, Token: c.ending.ev.Token, Outcome: commstate.Outcome{Call: c.ending.ev.Call, Err: err}})
	}
}

// foundAll notes that a sequence of a communicator has only members in Finalize.
func (c *Control) foundAll(cm *communicator, series commstate.Series) {
	if cm.index() == c.world {
		c.ending.met[series] = true
		c.closeIfMet()
	}
}

// closeIfMet begins the closing agreement of the world.
func (c *Control) closeIfMet() {
	if !c.ending.open || c.ending.met != (places{true, true}) {
		return
	}
	c.ending.open, c.finalizing = false, true
	world := c.comm.live(c.world)
	c.contribute(world, c.ending.ev)
	if !c.left.IsEmpty() {
		c.step(world, commstate.Ended{})
	}
}

// worldRank returns a function from ranks of cm to ranks of the world.
func (c *Control) worldRank(cm *communicator) func(rank int) int {
	world := c.comm.live(c.world)
	return func(rank int) int {
		outer, _ := world.rank(cm.Group().Procs[rank])
		return outer
	}
}
