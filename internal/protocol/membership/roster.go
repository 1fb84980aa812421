package membership

import (
	"fmt"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A Roster is one member's view of the nodes of a job. Its single responsibility is to decide which
// nodes are alive.
type Roster struct {
	cfg Config
	now mono.Time // the last Tick's

	ring     ring
	absent   absentees
	told     []mono.Time // by member: when a dead one was last notified of its death
	dropped  uint64      // messages of dead members
	ended    bool        // Fenced or End was returned: nothing happens any more
	nextBeat mono.Time   // when all that is repeated each Period is due

	lease       lease
	voter       voter
	coordinator *coordinator // while this member leads an epoch; nil otherwise
	held        report
	sent        report // the last report that was sent to the coordinator
	news        news

	out []Action
}

// New returns a member's roster in which everybody lives and the launcher is the coordinator. The
// configuration must pass Check.
func New(cfg Config) *Roster {
	err := cfg.Check()
	must.That(err == nil, "%v", err)
	cfg = cfg.WithDefaults()
	r := &Roster{
		cfg:      cfg,
		now:      cfg.Start,
		ring:     newRing(cfg),
		nextBeat: cfg.Start,
		news:     newNews(cfg.Members, cfg.Me),
		told:     make([]mono.Time, cfg.Members),
		absent:   absentees{cfg.Absent.Clone()},
	}
	r.lease.begin(cfg)
	r.absent.leaveOut(r)
	r.voter.quiet = cfg.Start
	if cfg.Me == Launcher {
		r.coordinator = newCoordinator(cfg, Record{}, cfg.Start)
		r.coordinator.committed = true
	}
	return r
}

// Step applies one event and returns, in order, the actions of the host. It never blocks and reads
// no clock. The slice is valid until the next Step.
func (r *Roster) Step(ev Event) []Action {
	r.out = r.out[:0]
	if r.ended {
		return nil
	}
	switch ev := ev.(type) {
	case Tick:
		r.tick(ev.Now)
	case Receive:
		r.receive(ev.From, ev.Msg)
	case Broken:
		r.broken(ev.Member)
	case Refused:
		r.refused(ev.Member)
	case Connected:
		r.held.ended.Remove(ev.Member)
	case Unreachable:
		r.held.unreachable.Add(ev.Member)
	case Reachable:
		r.held.unreachable.Remove(ev.Member)
	case Condemned:
		r.checkPeer(ev.Member)
		if r.coordinator != nil && !r.isDead(ev.Member) {
			r.coordinator.condemned.Add(ev.Member)
		}
	case Came:
		r.checkPeer(ev.Member)
		r.absent.takeIn(r, ev.Member)
	case Publish:
		r.news.publish(ev.Entries)
	}
	if !r.ended {
		r.settle()
	}
	return r.out
}

// settle carries out the consequences of an event: it reports evidence to the coordinator, judges,
// if this member is the coordinator, and passes the news on.
func (r *Roster) settle() {
	r.tellCoordinator()
	if r.coordinator != nil {
		r.lead()
	}
	r.passNewsOn()
}

// passNewsOn sends new entries, but not to members that this very Step has declared.
func (r *Roster) passNewsOn() {
	for _, a := range r.news.out {
		if s, ok := a.(Send); ok && r.news.closed.Has(s.To) {
			continue
		}
		r.act(a)
	}
	clear(r.news.out) // the bytes belong to the host
	r.news.out = r.news.out[:0]
}

// tick checks the lease before anything else: after a pause nothing may be sent by a node that
// others may have declared (F8).
func (r *Roster) tick(now mono.Time) {
	now = max(now, r.now)
	late := r.lateness(now)
	r.now = now
	r.checkLease()
	if r.ended {
		return
	}
	if late > r.cfg.Period {
		r.forgive(late)
	}
	r.stepRing(fd.Tick{Now: now})
	if !r.ended && r.now >= r.nextBeat {
		r.nextBeat = r.nextBeat.Add(r.cfg.Period)
		if r.nextBeat <= r.now {
			r.nextBeat = r.now.Add(r.cfg.Period)
		}
		r.beat()
	}
}

// lateness returns how much later than asked for this Tick has come.
func (r *Roster) lateness(now mono.Time) mono.Duration {
	wanted, ok := r.Deadline()
	if !ok {
		return 0
	}
	return max(0, now.Sub(wanted))
}

// forgive takes time out of all waits in which this member was late itself: messages that others
// sent meanwhile are unread in its queues (B17). A lease is never prolonged.
func (r *Roster) forgive(late mono.Duration) {
	r.voter.quiet = r.voter.quiet.Add(late)
	if r.coordinator != nil {
		r.coordinator.forgive(late)
	}
}

// beat sends all periodic messages.
func (r *Roster) beat() {
	if coordinator := r.coordinatorMember(); coordinator != r.cfg.Me {
		r.sendBeat(coordinator)
	}
	if held := r.heldNow(); !held.isEmpty() {
		r.sendReport(held) // again, for a coordinator forgets a report that is not repeated
	}
	if r.cfg.Survive {
		r.seekCoordinator()
	}
	if r.coordinator != nil {
		r.coordinator.repeat(r)
	}
}

// receive dispatches a message. Messages of a dead member are dropped and counted, and the member
// is notified (F6); again after a Timeout, since it may still be cut off.
func (r *Roster) receive(from int, msg []byte) {
	r.checkPeer(from)
	if r.absent.Has(from) {
		return // it has begun, and this member has not been notified yet
	}
	if r.isDead(from) {
		r.dropped++
		if last := r.told[from]; last == 0 || r.now.Sub(last) >= r.cfg.Timeout {
			r.told[from] = r.now
			r.send(from, dead{})
		}
		return
	}
	m, err := parseMessage(msg, r.cfg.Members)
	if err != nil {
		r.act(Anomaly{From: from, Text: "roster: " + err.Error()})
		return
	}
	if isVote(m) && !r.cfg.Survive {
		r.act(Anomaly{From: from, Text: "roster: a vote in a job whose coordinator does not change"})
		return
	}
	switch m := m.(type) {
	case ringMessage:
		r.hearRing(from, m)
	case beat:
		r.hearBeat(from, m)
	case grant:
		r.hearGrant(from, m)
	case report:
		r.hearReport(from, m)
	case propose:
		r.hearPropose(from, m.record)
	case written:
		r.hearWritten(from, m)
	case canvass:
		r.hearCanvass(from, m)
	case canvassed:
		r.hearCanvassed(from, m)
	case support:
		r.hearSupport(from, m)
	case newsMessage:
		r.news.hear(from, m)
	case have:
		r.news.hearHave(from, m)
	case dead:
		r.fence(from)
	}
}

// isVote reports whether a message is about the choice of the coordinator, or about counting a
// majority.
func isVote(m message) bool {
	switch m.(type) {
	case propose, written, canvass, canvassed, support:
		return true
	}
	return false
}

// fence is the end of a member that was declared (F7).
func (r *Roster) fence(by int) {
	r.ended = true
	r.out = append(r.out[:0], Fenced{By: by})
}

// end is the end of a member that nobody will ever grant anything again.
func (r *Roster) end(frozen mono.Duration) {
	r.ended = true
	r.out = append(r.out, End{Frozen: frozen})
}

// Deadline returns when the roster next needs a Tick, if ever.
func (r *Roster) Deadline() (mono.Time, bool) {
	if r.ended {
		return 0, false
	}
	next := r.nextBeat
	if at, ok := r.ring.Deadline(); ok {
		next = min(next, at)
	}
	next = min(next, r.lease.deadline(r))
	if r.coordinator != nil {
		next = min(next, r.coordinator.deadline(r))
	}
	return next, true
}

// Dead returns a copy of the set of members declared dead.
func (r *Roster) Dead() rankset.Set { return r.ring.Dead() }

// Frozen reports whether the ranks of this node have to stand still.
func (r *Roster) Frozen() bool { return r.lease.frozen }

// Watches returns the member that this one obeys, itself if it is the coordinator, and the member
// with the heartbeats that it observes, -1 if none: this member has to notice their ends.
func (r *Roster) Watches() (coordinator, emitter int) { return r.coordinatorMember(), r.ring.Emitter() }

// Leads reports whether this member is the coordinator and may act, and in which epoch.
func (r *Roster) Leads() (epoch uint32, acts bool) {
	if r.coordinator == nil {
		return 0, false
	}
	return r.coordinator.record.Epoch, r.mayAct()
}

// Written returns the newest version of the roster that this member has written down.
func (r *Roster) Written() Record { return r.voter.record }

// Dropped returns how many messages of dead members were dropped.
func (r *Roster) Dropped() uint64 { return r.dropped }

// Describe returns the state in one line, for a person.
func (r *Roster) Describe() string {
	text := fmt.Sprintf("member %d of %d: epoch %d", r.cfg.Me, r.cfg.Members, r.voter.follows)
	if r.voter.promised > r.voter.follows {
		text += fmt.Sprintf(", promised %d", r.voter.promised)
	}
	if r.coordinator != nil {
		text += r.coordinator.describe(r)
	}
	text += fmt.Sprintf(", wrote %v, declared %v", r.voter.record, r.ring.Dead())
	if r.lease.frozen {
		text += ", frozen"
	}
	if !r.held.isEmpty() {
		text += fmt.Sprintf(", holds silent %v ended %v unreachable %v", r.held.silent, r.held.ended, r.held.unreachable)
	}
	if !r.absent.IsEmpty() {
		text += fmt.Sprintf(", absent %v", r.absent.Set)
	}
	if r.ended {
		text += ", ended"
	}
	return text
}

func (r *Roster) isDead(member int) bool { return r.ring.Dead().Has(member) }

// coordinatorMember returns the member that this one obeys.
func (r *Roster) coordinatorMember() int { return r.cfg.coordinatorOf(r.voter.follows) }

func (r *Roster) act(a Action) { r.out = append(r.out, a) }

func (r *Roster) send(to int, m message) {
	r.out = append(r.out, Send{To: to, Msg: m.append(nil)})
}

func (r *Roster) sendDatagram(to int, m message) {
	r.out = append(r.out, Send{To: to, Msg: m.append(nil), Datagram: true})
}

func (r *Roster) checkPeer(member int) {
	must.That(0 <= member && member < r.cfg.Members && member != r.cfg.Me, "member %d of %d named %d", r.cfg.Me, r.cfg.Members, member)
}
