package control

import (
	"encoding/binary"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// sendDigests compares the revoked communicators with the revoked communicators of the nearest live
// neighbours on the ring of processes, after the set of the dead grew. A flood repairs its own gaps
// as long as each member learns of each death. The comparison finds a case that the flood cannot
// repair: a communicator that became live here after its deaths were declared (B3).
func (c *Control) sendDigests() {
	for _, proc := range c.neighbors() {
		// A process without a revoked communicator sends nothing: a neighbour that has one sends a
		// digest, and right after a death every frame wakes a process that is busy with recovery.
		if mine := c.revokedWith(proc); len(mine) > 0 {
			c.send(proc, binary.LittleEndian.AppendUint64([]byte{classDigest}, digest(mine)))
		}
	}
}

// compare answers a differing digest with the list of this process's revoked communicators.
func (c *Control) compare(from int, theirs uint64) {
	if mine := c.revokedWith(from); digest(mine) != theirs {
		c.send(from, uidList{answer: true, uids: mine}.append(nil))
	}
}

// mergeList revokes the communicators that are revoked at the sender. If the list answers a digest
// and this process has revoked more, it sends its own list, which gets no answer.
func (c *Control) mergeList(from int, l uidList) {
	for cm := range c.comm.comms() {
		if !slices.Contains(l.uids, cm.Group().UID) {
			continue
		}
		if _, belongs := cm.rank(from); belongs {
			c.step(cm, commstate.Revoke{})
		}
	}
	mine := c.revokedWith(from)
	news := slices.ContainsFunc(mine, func(u commstate.UID) bool { return !slices.Contains(l.uids, u) })
	if l.answer && news {
		c.send(from, uidList{uids: mine}.append(nil))
	}
}

// revokedWith returns the uids of the live revoked communicators of which proc is a member too, in
// the order of this process's indices. Other communicators do not concern proc, and closed
// communicators concern no process.
func (c *Control) revokedWith(proc int) []commstate.UID {
	var uids []commstate.UID
	for cm := range c.comm.comms() {
		if !cm.IsRevoked() {
			continue
		}
		if _, belongs := cm.rank(proc); belongs {
			uids = append(uids, cm.Group().UID)
		}
	}
	return uids
}

// digest does not depend on the order of uids, which differs between processes.
func digest(uids []commstate.UID) uint64 {
	var d uint64
	for _, u := range uids {
		d ^= binary.LittleEndian.Uint64(u[:8])
	}
	return d
}

// neighbors returns the nearest live processes on the ring, at most two, of the processes that
// share or shared a communicator with this process.
func (c *Control) neighbors() []int {
	var near []int
	for _, step := range []int{1, c.cfg.N - 1} {
		p := (c.cfg.Me + step) % c.cfg.N
		for p != c.cfg.Me && (c.dead.Has(p) || c.left.Has(p) || !c.met.Has(p)) {
			p = (p + step) % c.cfg.N
		}
		if p != c.cfg.Me && !slices.Contains(near, p) {
			near = append(near, p)
		}
	}
	return near
}
