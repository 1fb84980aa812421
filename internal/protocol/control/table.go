package control

import (
	"bytes"
	"iter"
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// State is the state of a context index of this process.
type State uint8

// The states, in the order in which an index passes through them. No index ever returns to an
// earlier state or is used again, so a late frame cannot meet another communicator.
const (
	Absent  State = iota // never drawn
	Pending              // drawn for a call that is undecided here: frames are held
	Live                 // a communicator
	Freed                // the call made nothing, or the communicator was closed
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Absent:
		return "absent"
	case Pending:
		return "pending"
	case Live:
		return "live"
	}
	return "freed"
}

// communicator is a live communicator and the state that Control adds to it.
type communicator struct {
	*commstate.Comm
	rankOf map[int]int // the rank of each world process that is a member; looked up, never ranged over; nil if the ranks are in the order of processes
	birth  birth

	orphans []commstate.Orphan // received together with the end of the closing agreement

	uniform bool // a failure of a member revokes the communicator

	ends places // Finalize has contributed to an agreement that is undecided here

	gatherings []*gathering             // of members of this communicator, under way here
	early      []invitation             // to gatherings that have not begun here, in order of arrival
	gathered   map[commstate.UID]uint64 // number of gatherings, by members and tag
	hidden     *gathering               // the gathering to which this hidden communicator belongs; nil: a communicator of the program
}

// origin is the agreement that a communicator comes from.
type origin struct {
	parent *communicator // nil for the world
	series commstate.Series
	seq    uint64
}

// birth is the origin that a communicator remembers. The parent may be forgotten before the
// communicator: an index keeps nothing alive.
type birth struct {
	parent uint32
	series commstate.Series
	seq    uint64
}

func (o origin) birth() birth {
	if o.parent == nil {
		return birth{}
	}
	return birth{o.parent.index(), o.series, o.seq}
}

func newCommunicator(cfg commstate.Config, from origin) *communicator {
	c := &communicator{Comm: commstate.New(cfg), birth: from.birth()}
	if !slices.IsSorted(cfg.Group.Procs) {
		c.rankOf = make(map[int]int, cfg.Group.Size())
		for rank, proc := range cfg.Group.Procs {
			c.rankOf[proc] = rank
		}
	}
	c.uniform = from.parent != nil && from.parent.uniform
	return c
}

func (c *communicator) index() uint32 { return c.Group().Index }

func (c *communicator) rank(proc int) (int, bool) {
	if c.rankOf == nil {
		return slices.BinarySearch(c.Group().Procs, proc)
	}
	r, ok := c.rankOf[proc]
	return r, ok
}

// entry is one context index.
type entry struct {
	state State
	comm  *communicator // iff live
	wait  *waiting      // iff pending
	grave *grave        // iff freed
}

// grave is the content of the answer to late frames for a freed index.
type grave struct {
	ended   bool               // freed by a closing agreement; false: this process joined no communicator
	orphans []commstate.Orphan // of the closing agreement

	// torn: others may have the communicator that this process did not join. The words by which
	// they decide can be in its block, so the block is not used again.
	torn bool
}

// waiting is the state of an index before its communicator exists here.
type waiting struct {
	parent *communicator
	spawns bool // for a call that starts processes
	held   []heldFrame
	absent []int // processes that gave the communicator up
}

type heldFrame struct {
	proc int
	memberFrame
}

// heldPerPeer bounds the frames held for one peer and one index. A peer that has the communicator
// already cannot decide anything there without this process, so the peer has at most era.Window
// agreements open in each series. Each agreement costs one contribution to a given peer, and
// repeated requests are held once.
const heldPerPeer = 4 * era.Window * commstate.PartCount

// hold keeps a frame until the communicator exists and reports whether there was room. No early
// frame within the bound is dropped, a revocation least of all: its flood sends the frame once per
// growth of the set of the dead, and might not pass here again (B4).
func (w *waiting) hold(proc int, f memberFrame) bool {
	count := 0
	for _, h := range w.held {
		if h.proc != proc {
			continue
		}
		if h.part == f.part && h.seq == f.seq && bytes.Equal(h.msg, f.msg) {
			return true
		}
		count++
	}
	if count >= heldPerPeer {
		return false
	}
	f.msg = bytes.Clone(f.msg)
	w.held = append(w.held, heldFrame{proc: proc, memberFrame: f})
	return true
}

// table holds every context index that this process has drawn. Skipped indices stay Absent: no
// process ever learns of them.
type table struct {
	entries pages
	hidden  pages // of indices from firstHidden on
	blocks  int
	taken   rankset.Set // blocks that belong to an index in use
}

func newTable(blocks int) table {
	return table{entries: newPages(), hidden: newPages(), blocks: blocks}
}

// firstHidden is the least index for hidden communicators. They have no blocks, and numbers of
// their own: if only one index in many has no block, each hidden communicator would cost that many
// entries.
const firstHidden uint32 = 1 << 31

// blockOf returns the block that belongs to a context index with this number of blocks, or -1.
func blockOf(index uint32, blocks int) int {
	if b := int(index % uint32(blocks+1)); b < blocks && index < firstHidden {
		return b
	}
	return -1
}

// at returns the entry of an index, or nil if it has none.
func (t *table) at(i uint32) *entry {
	if i >= firstHidden {
		return t.hidden.at(i - firstHidden)
	}
	return t.entries.at(i)
}

func (t *table) state(i uint32) State {
	if s := t.at(i); s != nil {
		return s.state
	}
	return Absent
}

func (t *table) live(i uint32) *communicator {
	if t.state(i) != Live {
		return nil
	}
	return t.at(i).comm
}

// all yields the indices that have entries, ascending, except the indices of folded pages. Entries
// may be put and folded meanwhile.
func (t *table) all() iter.Seq2[uint32, *entry] {
	return func(yield func(uint32, *entry) bool) {
		if t.entries.each(0, yield) {
			t.hidden.each(firstHidden, yield)
		}
	}
}

// comms yields the live communicators in the order of their indices.
func (t *table) comms() iter.Seq[*communicator] {
	return func(yield func(*communicator) bool) {
		for _, s := range t.all() {
			if s.comm != nil && !yield(s.comm) {
				return
			}
		}
	}
}

// draw returns a new index (A15), pending for a call on parent.
func (t *table) draw(parent *communicator) uint32 {
	i := t.next()
	t.put(i, entry{state: Pending, wait: &waiting{parent: parent}})
	return i
}

// drawHidden is draw for a hidden communicator.
func (t *table) drawHidden(parent *communicator) uint32 {
	i := firstHidden + t.hidden.n
	t.put(i, entry{state: Pending, wait: &waiting{parent: parent}})
	return i
}

// next returns the least index above all others whose block is free, or, if all blocks are taken,
// the least without a block.
func (t *table) next() uint32 {
	full := t.taken.Len() == t.blocks
	for i := t.entries.n; ; i++ {
		if b := blockOf(i, t.blocks); b < 0 && full || b >= 0 && !t.taken.Has(b) {
			return i
		}
	}
}

func (t *table) put(i uint32, s entry) {
	t.set(i, s)
	if b := blockOf(i, t.blocks); b >= 0 {
		t.taken.Add(b)
	}
}

func (t *table) set(i uint32, s entry) {
	if i >= firstHidden {
		t.hidden.put(i-firstHidden, s)
		return
	}
	t.entries.put(i, s)
}

func (t *table) free(i uint32, g grave) {
	t.set(i, entry{state: Freed, grave: &g})
	if b := blockOf(i, t.blocks); b >= 0 && !g.torn {
		t.taken.Remove(b)
	}
}
