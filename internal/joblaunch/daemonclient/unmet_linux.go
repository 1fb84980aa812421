package daemonclient

import (
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A pair of processes of two nodes meets even if only one of them can dial: the other process
// reports this to the launcher, which asks the first to dial. If neither can dial, both report, and
// the user is notified.
//
//	rank 0: cannot dial 3          launcher                  rank 3
//	Unmet{3}                       Meet{0} to 3
//	                                                         dials 0, in vain
//	                               both have reported        Unmet{0}
//	                               asks 0, prints the line

// A road is a direction of one lane between two slots.
type road struct{ from, to, lane int }

func (r road) back() road { return road{r.to, r.from, r.lane} }

// An unmet is the set of directions that processes have reported as impossible to dial. The zero
// value is ready.
type unmet struct {
	roads map[road]rankproto.Unmet
	told  map[[2]int]bool // pairs of nodes of which people were notified
}

// hear records the report of the process of a slot, and returns the directions, none, or both, that
// nobody can dial.
func (u *unmet) hear(from int, m rankproto.Unmet) (closed []road) {
	if u.roads == nil {
		u.roads, u.told = map[road]rankproto.Unmet{}, map[[2]int]bool{}
	}
	r := road{from, m.Proc, m.Lane}
	if m.Over {
		delete(u.roads, r)
		return nil
	}
	u.roads[r] = m
	if _, both := u.roads[r.back()]; both {
		return []road{r.back(), r}
	}
	return nil
}

// forget forgets the reports that concern the process of a slot, which has ended.
func (u *unmet) forget(slot int) {
	for r := range u.roads {
		if r.from == slot || r.to == slot {
			delete(u.roads, r)
		}
	}
}

// unreached returns the lowest node that a node and its processes do not reach, in neither direction,
// by the node of each slot.
func (u *unmet) unreached(of []int, node int) (other int, ok bool) {
	for r := range u.roads {
		if _, back := u.roads[r.back()]; back && of[r.from] == node && (!ok || of[r.to] < other) {
			other, ok = of[r.to], true
		}
	}
	return other, ok
}

// isUnmet asks the process of a slot to dial the process with the given number, which has reported
// that it cannot dial that slot. If neither can dial, a note names the two nodes, once.
func (f *Client) isUnmet(number int, m rankproto.Unmet) {
	from := job.SlotOf(number)
	f.mu.Lock()
	if p := f.processes[from]; p == nil || p.number != number {
		f.mu.Unlock()
		return // another process has the slot by now
	}
	p := f.processes[m.Proc]
	if p == nil || p.pid == 0 || p.reaped {
		f.unmet.forget(m.Proc) // it is asked again
		f.mu.Unlock()
		return
	}
	closed := f.unmet.hear(from, m)
	var lines []road
	for _, r := range closed {
		if pair := [2]int{f.of[r.from], f.of[r.to]}; !f.unmet.told[pair] {
			f.unmet.told[pair] = true
			lines = append(lines, r)
		}
	}
	said := map[road]rankproto.Unmet{}
	for _, r := range lines {
		said[r] = f.unmet.roads[r]
	}
	f.mu.Unlock()
	for _, r := range lines {
		f.host.Note("node", "node %d does not reach node %d at %s: %s", f.of[r.from], f.of[r.to], said[r].Addr, said[r].Why)
	}
	if !m.Over {
		f.Say(p.number, rankproto.Meet{Proc: from, Lane: m.Lane})
	}
}
