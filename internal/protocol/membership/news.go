package membership

import (
	"encoding/binary"
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
	"github.com/goulfm/goulfm/internal/protocol/flood"
)

// A Kind is the kind of event in an Entry.
type Kind uint8

// The kinds of Entry.
const (
	Died    Kind = iota + 1 // a process of this node ended without leaving
	Left                    // a process of this node has finalized
	Revoked                 // a process of this node that has died had revoked a communicator
	Aborted                 // a process of this node has ended the job, with an exit code
	Doomed                  // a process of this node has ended that process
	Quiet                   // no process runs on this node any more, nor will

	kindsEnd
)

// String returns the kind in one word.
func (k Kind) String() string {
	switch k {
	case Died:
		return "died"
	case Left:
		return "left"
	case Revoked:
		return "revoked"
	case Aborted:
		return "aborted"
	case Doomed:
		return "doomed"
	case Quiet:
		return "quiet"
	}
	return "nothing"
}

// An Entry is one line of a node's list. Name is the number of the process, the name of the
// revocation, or the exit code, least significant byte first.
type Entry struct {
	Kind Kind
	Name [16]byte
}

// Process returns an Entry about a process.
func Process(kind Kind, number uint32) Entry {
	e := Entry{Kind: kind}
	binary.LittleEndian.PutUint32(e.Name[:], number)
	return e
}

// Abort returns an Entry that ends the job.
func Abort(code int) Entry { return Process(Aborted, uint32(code)) }

// Number returns the process that e is about, or the exit code, if it is about one.
func (e Entry) Number() uint32 { return binary.LittleEndian.Uint32(e.Name[:]) }

// entrySize is the length of an encoded Entry.
const entrySize = 17

// news is this member's copy of every node's list. A list is written by its node alone and only
// grows at its end. A row of lengths therefore describes the knowledge of a member, and two members
// with the same lengths know the same.
//
// News spread as a flood does (package flood), on the same graph: new entries are sent on once to
// all neighbours (B3, B7, B14). A member that finds by a digest that another one has different
// knowledge requests the rest by sending its own lengths. The set of package flood does not fit:
// its items are small numbers, sent whole each time, and entries have 16 bytes of their own.
type news struct {
	me      int
	lists   [][]Entry   // by member
	closed  rankset.Set // declared dead, or not there yet: nothing is sent to them
	targets []int       // neighbours on the graph, and the nearest living ones; ascending
	out     []Action    // actions that the roster has still to pass on
}

// A run is a part of one list.
type run struct {
	origin  int
	first   int // its place in the list
	entries []Entry
}

// newsMessage carries new entries: count, then for each run origin, first, count, entries.
type newsMessage struct{ runs []run }

// have is how long each list is at the sender.
type have struct{ lengths []int }

func newNews(members, me int) news {
	n := news{me: me, lists: make([][]Entry, members)}
	n.targets = n.findTargets()
	return n
}

// digest is the same at two members iff they know the same (but for collisions).
func (n *news) digest() uint64 {
	h := uint64(14695981039346656037) // FNV-1a, of the lengths
	for m := range n.lists {
		if length := len(n.lists[m]); length > 0 {
			for _, v := range [2]uint64{uint64(m), uint64(length)} {
				h = (h ^ v) * 1099511628211
			}
		}
	}
	return h
}

// merge takes the new part of a run. gap reports that entries before it are missing here.
func (n *news) merge(r run) (fresh run, gap bool) {
	known := len(n.lists[r.origin])
	if r.first > known {
		return run{}, true
	}
	skip := known - r.first
	if r.origin == n.me || skip >= len(r.entries) {
		return run{}, false
	}
	fresh = run{origin: r.origin, first: known, entries: slices.Clone(r.entries[skip:])}
	n.lists[r.origin] = append(n.lists[r.origin], fresh.entries...)
	return fresh, false
}

// missing returns the entries that a member with lists of these lengths lacks.
func (n *news) missing(lengths []int) []run {
	var runs []run
	for m, list := range n.lists {
		if lengths[m] < len(list) {
			runs = append(runs, run{origin: m, first: lengths[m], entries: list[lengths[m]:]})
		}
	}
	return runs
}

// lengths returns how long each list is here.
func (n *news) lengths() []int {
	all := make([]int, len(n.lists))
	for m, list := range n.lists {
		all[m] = len(list)
	}
	return all
}

// close takes a member out. Entries that it no longer passed on are repaired through the digests,
// which ride on the heartbeats between its neighbours.
func (n *news) close(member int) {
	n.closed.Add(member)
	n.targets = n.findTargets()
}

// open takes a member in that was closed since it was not there yet. The member requests the
// entries that it lacks when the first digest arrives.
func (n *news) open(member int) {
	n.closed.Remove(member)
	n.targets = n.findTargets()
}

func (n *news) findTargets() []int {
	members := len(n.lists)
	targets := flood.Neighbors(members, n.me)
	for _, step := range []int{1, members - 1} {
		near := (n.me + step) % members
		for near != n.me && n.closed.Has(near) {
			near = (near + step) % members
		}
		if near != n.me {
			targets = append(targets, near)
		}
	}
	slices.Sort(targets)
	return slices.DeleteFunc(slices.Compact(targets), n.closed.Has)
}

// publish appends to this member's own list and notifies the neighbours. The host's own list is
// written before (B23).
func (n *news) publish(entries []Entry) {
	for _, e := range entries {
		must.That(Died <= e.Kind && e.Kind < kindsEnd, "entry of kind %d", e.Kind)
	}
	if len(entries) == 0 {
		return
	}
	own := &n.lists[n.me]
	fresh := run{origin: n.me, first: len(*own), entries: slices.Clone(entries)}
	*own = append(*own, fresh.entries...)
	n.spread([]run{fresh}, n.me)
}

// spread sends new entries to all neighbours except the sender; those of the spanning tree come
// first.
func (n *news) spread(runs []run, from int) {
	for _, to := range flood.Order(len(n.lists), n.me, from, n.targets) {
		if to != from {
			n.send(to, newsMessage{runs: runs})
		}
	}
}

func (n *news) send(to int, m message) {
	n.out = append(n.out, Send{To: to, Msg: m.append(nil)})
}

// ask sends the lengths here to another member, which answers with the rest.
func (n *news) ask(member int) { n.send(member, have{lengths: n.lengths()}) }

// hear takes the new entries, and passes on those alone.
func (n *news) hear(from int, m newsMessage) {
	var fresh []run
	missing := false
	for _, run := range m.runs {
		news, gap := n.merge(run)
		missing = missing || gap
		if len(news.entries) > 0 {
			fresh = append(fresh, news)
			n.out = append(n.out, Learned{Origin: news.origin, Entries: news.entries})
		}
	}
	if len(fresh) > 0 {
		n.spread(fresh, from)
	}
	if missing {
		n.ask(from)
	}
}

// hearHave sends the sender the entries that it lacks, and requests its additional ones if there
// are any.
func (n *news) hearHave(from int, m have) {
	if runs := n.missing(m.lengths); len(runs) > 0 {
		n.send(from, newsMessage{runs: runs})
	}
	for member, list := range n.lists {
		if m.lengths[member] > len(list) {
			n.ask(from)
			return
		}
	}
}

// compare repairs the gaps of a flood: a digest came along on a heartbeat (B3).
func (n *news) compare(with int, digest uint64) {
	if digest != n.digest() {
		n.ask(with)
	}
}

func (m newsMessage) append(dst []byte) []byte {
	dst = appendUint(append(dst, kindNews), uint64(len(m.runs)))
	for _, run := range m.runs {
		dst = appendUint(dst, uint64(run.origin), uint64(run.first), uint64(len(run.entries)))
		for _, e := range run.entries {
			dst = append(append(dst, byte(e.Kind)), e.Name[:]...)
		}
	}
	return dst
}

func readNews(r *wire.Reader, members int) message {
	var m newsMessage
	for range r.Below(r.Left() + 1) {
		run := run{origin: r.Below(members), first: r.Below(1 << 31)}
		for range r.Below(r.Left()/entrySize + 1) {
			e := Entry{Kind: Kind(r.Byte())}
			for i := range e.Name {
				e.Name[i] = r.Byte()
			}
			if e.Kind < Died || e.Kind >= kindsEnd {
				return nil
			}
			run.entries = append(run.entries, e)
		}
		m.runs = append(m.runs, run)
	}
	return m
}

func (m have) append(dst []byte) []byte {
	dst = append(dst, kindHave)
	for _, length := range m.lengths {
		dst = appendUint(dst, uint64(length))
	}
	return dst
}

func readHave(r *wire.Reader, members int) message {
	m := have{lengths: make([]int, 0, min(members, r.Left()))}
	for range members {
		m.lengths = append(m.lengths, r.Below(1<<31))
		if r.Err() != nil {
			return nil
		}
	}
	return m
}
