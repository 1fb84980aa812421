package membership

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// stepRing gives an event to the failure detector and carries out its actions. The detector has no
// right to declare (B22): silent members are reported to the coordinator, and the coordinator's
// decisions come in as Agreed, which the detector floods to all.
func (r *Roster) stepRing(ev fd.Event) {
	_, answering := ev.(fd.Receive)
	for _, a := range r.ring.Step(ev) {
		switch a := a.(type) {
		case fd.Send:
			r.sendRing(a, answering)
		case fd.Suspect:
			r.suspect(a)
		case fd.Declare:
			r.declared(a.Rank)
		case fd.Fenced:
			r.fence(a.By)
			return
		case fd.Anomaly:
			r.act(Anomaly{From: a.From, Text: a.Text})
		}
	}
}

// sendRing wraps a message of the detector. Heartbeats are datagrams, because the next one makes up
// for a lost one, and behind a lost packet of a stream all later ones would wait. A probe and its
// answer take the other path: a suspicion is confirmed on a second path.
func (r *Roster) sendRing(s fd.Send, answering bool) {
	m := ringMessage{digest: r.news.digest(), inner: s.Msg}
	if fd.IsHeartbeat(s.Msg) && !answering {
		r.sendDatagram(s.To, m)
		return
	}
	r.send(s.To, m)
}

// hearRing handles a message of the ring, a sign of life that refutes the ring's evidence against
// the sender.
func (r *Roster) hearRing(from int, m ringMessage) {
	r.held.silent.Remove(from)
	r.stepRing(fd.Receive{From: from, Msg: m.inner})
	if !r.ended {
		r.news.compare(from, m.digest)
	}
}

func (r *Roster) suspect(s fd.Suspect) {
	if s.Unanswered {
		r.held.silent.Add(s.Rank)
		return
	}
	r.act(Suspect{Member: s.Rank, Silent: s.Silent})
}

// declared is the end of another member, here.
func (r *Roster) declared(member int) {
	r.held.silent.Remove(member)
	r.held.ended.Remove(member)
	r.held.unreachable.Remove(member)
	r.act(Declaration{Member: member})
	r.news.close(member)
	if r.coordinator != nil {
		r.coordinator.forget(member)
	}
}

// agreed passes the decision of a coordinator to the detector, which floods it.
func (r *Roster) agreed(dead rankset.Set) { r.stepRing(fd.Agreed{Dead: dead}) }

func (r *Roster) broken(member int) {
	r.checkPeer(member)
	r.stepRing(fd.Broken{Rank: member})
}

// refused is the evidence that a daemon has ended: its connection did, and nobody listens where it
// did. One member alone may be wrong about that, so the coordinator requires two. A launcher that
// cannot be replaced has nobody above it: a member that finds it ended has no coordinator any more.
func (r *Roster) refused(member int) {
	r.checkPeer(member)
	if r.isDead(member) {
		return
	}
	r.held.ended.Add(member)
	if member == Launcher && !r.cfg.Survive {
		r.end(0)
		return
	}
	r.stepRing(fd.Broken{Rank: member})
	if !r.ended && r.cfg.Survive && member == r.coordinatorMember() {
		r.seekCoordinator()
	}
}
