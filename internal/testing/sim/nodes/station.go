package nodes

import (
	"fmt"
	"math"
	"slices"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/membership"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// station is a machine with its daemon, which is a member of the roster: 0 is the launcher's,
// which has no ranks, and m is that of node m-1.
type station struct {
	run    *nodeRun
	me     int
	rules  *membership.Roster
	rate   float64 // of its clock, against real time
	offset mono.Time
	wakes  int // number of the last plan that wakes the daemon; older ones are void
	inbox  []membership.Event

	gone    bool     // the daemon has ended
	off     bool     // the machine has: it is only silent
	over    bool     // the daemon has ended itself and its ranks
	paused  int      // faults for which the whole machine stands still now
	stopped int      // faults for which the daemon alone does
	late    bool     // the machine goes on, and its daemon has not had its turn yet
	waits   []func() // until the daemon goes on
	queued  []func() // until the machine does: what its kernel will find

	ranks      []*nodeRank
	list       []departure // those who have ended, anywhere, in the order in which all here learn it
	listed     rankset.Set // processes in it
	heap       *onenode.Heap
	lease      mono.Time // by its own clock
	frozen     bool      // the daemon has stopped the ranks
	complaints []int     // by member: lanes of ranks here that reach no rank there
	complained []bool    // by member: the daemon was told so

	declarations rankset.Set // that were heard here
	trouble      mono.Time   // until when it was cut off from the launcher, or had lanes that reached nobody
	stood        mono.Time   // until when it stood still
	declared     bool        // somebody has heard that this one is dead
	condemned    bool        // the launcher cannot give it orders
}

// departure is an entry of a node's list.
type departure struct {
	proc int
	how  departing
}

type departing uint8

const (
	died departing = iota
	lost           // its node was declared
	wentAway
)

func (d departing) String() string { return [...]string{"died", "lost", "left"}[d] }

func newStation(r *nodeRun, me int) *station {
	t := r.tape.Fork(forStation, me, 0)
	s := &station{run: r, me: me, rate: 1 + float64(t.Between(-1_000_000, 1_000_000))/1e9, offset: mono.Time(t.Below(1 << 40))}
	s.complaints, s.complained = make([]int, len(r.setup.sizes)+1), make([]bool, len(r.setup.sizes)+1)
	cfg := r.setup.roster(me, s.local(world.Epoch))
	s.rules = membership.New(cfg)
	s.lease = cfg.Start.Add(cfg.Timeout)
	s.heap = onenode.NewHeap(world.Blocks, s.moved)
	return s
}

// local is what the clock of the machine shows at a time.
func (s *station) local(real mono.Time) mono.Time {
	return s.offset + mono.Time(math.Floor(float64(real)*s.rate))
}

// real is when the clock shows that.
func (s *station) real(local mono.Time) mono.Time {
	return mono.Time(math.Ceil(float64(local-s.offset)/s.rate)) + 1
}

func (s *station) name() string {
	if s.me == membership.Launcher {
		return "launcher"
	}
	return fmt.Sprintf("node %d", s.me-1)
}

// leaseIsOver is what a rank finds that looks.
func (s *station) leaseIsOver() bool { return s.local(s.run.now) >= s.lease }

// needsLease: a launcher that is the coordinator for ever has none above it.
func (s *station) needsLease() bool { return s.me != membership.Launcher || s.run.setup.survive }

// stands says whether the daemon does nothing at the moment.
func (s *station) stands() bool { return s.paused > 0 || s.stopped > 0 || s.late }

// counts says whether what its ranks do counts: nobody has declared it, and it has not ended.
func (s *station) counts() bool { return !s.gone && !s.over && !s.declared }

// schedule wakes the daemon when its rules want it.
func (s *station) schedule() {
	at, wants := s.rules.Deadline()
	if s.gone || s.over || !wants {
		return
	}
	s.wakes++
	mine := s.wakes
	late := s.run.draw(forLateDaemon, s.me).UpTo(s.run.setup.jitter)
	s.run.agenda.Plan(max(s.real(at), s.run.now).Add(late), func() {
		if mine == s.wakes && !s.stands() {
			s.happen()
		}
	})
}

// tell gives the daemon an event, as soon as it does not stand still.
func (s *station) tell(ev membership.Event) {
	if s.stands() || len(s.inbox) > 0 {
		s.inbox = append(s.inbox, ev)
		return
	}
	s.happen(ev)
}

// happen has the daemon take its turn: the time comes before each event, and after it; where the
// ring measures the ways between daemons, after all that have come together.
func (s *station) happen(events ...membership.Event) {
	s.step(nil)
	for i, ev := range events {
		s.step(ev)
		if s.run.setup.detect == 0 || i == len(events)-1 {
			s.step(nil)
		}
	}
	s.run.check.hadTurn(s)
	s.schedule()
}

// step gives the rules an event, or the time, and does what they want.
func (s *station) step(ev membership.Event) {
	if s.gone || s.over {
		return
	}
	if ev == nil {
		ev = membership.Tick{Now: s.local(s.run.now)}
	}
	for _, a := range slices.Clone(s.rules.Step(ev)) {
		s.do(a)
	}
	s.run.check.coordinates(s)
}

func (s *station) do(a membership.Action) {
	r := s.run
	switch a := a.(type) {
	case membership.Send:
		s.send(a)
		return
	case membership.Lease:
		s.renew(a.Until)
		return
	case membership.Freeze:
		r.report.Freezes++
		s.frozen = true
	case membership.Thaw:
		r.report.Thaws++
		s.frozen = false
		r.check.thawed(s)
		s.awake()
	case membership.Declaration:
		r.check.declaration(s, r.stations[a.Member])
		s.lose(r.stations[a.Member])
	case membership.Learned:
		s.learn(a)
	case membership.Fenced:
		r.check.fenced(s)
		s.end()
	case membership.End:
		r.report.Ended++
		s.end()
	case membership.Anomaly:
		r.fail("no anomaly", "%s about member %d: %s", s.name(), a.From, a.Text)
	}
	r.trace(s.name(), "%T %+v", a, a)
}

// send takes a message to another daemon, or not.
func (s *station) send(a membership.Send) {
	r, to := s.run, s.run.stations[a.To]
	t := r.draw(forBeat, s.me*r.net.n+a.To)
	lost := a.Datagram && t.Percent(r.setup.loss) && !r.calm()
	if r.net.cut(s, to) || lost {
		return
	}
	r.plan(r.delay(t), func() {
		if !to.gone && !r.net.cut(s, to) {
			to.tell(membership.Receive{From: s.me, Msg: a.Msg})
		}
	})
}

// renew writes the lease down, and continues the ranks that have found it over.
func (s *station) renew(until mono.Time) {
	if until > s.lease {
		s.lease = until
	}
	for _, p := range s.ranks {
		if p.halted && !s.leaseIsOver() {
			p.halted = false
		}
	}
	s.awake()
}

// awake lets the ranks go on that do not stand still.
func (s *station) awake() {
	for _, p := range s.ranks {
		if !p.stands() {
			p.run.plan(0, p.goOn)
		}
	}
}

// enter puts an entry at the end of the list of the node, and has its ranks look, each after a
// while. It says whether it is new.
func (s *station) enter(proc int, how departing) bool {
	if !s.listed.Add(proc) {
		return false
	}
	s.list = append(s.list, departure{proc, how})
	for _, p := range s.ranks {
		s.run.plan(s.run.draw(forNodeNews, p.proc).Tail(s.run.setup.news), func() { p.happen(func() {}) })
	}
	return true
}

// found is the daemon noticing the end of one of its own ranks: it is in the own list before
// anybody elsewhere hears of it (B23).
func (s *station) found(p *nodeRank) {
	if s.gone || s.over {
		return
	}
	if s.stands() {
		s.waits = append(s.waits, func() { s.found(p) })
		return
	}
	kind, how := membership.Died, died
	if p.left {
		kind, how = membership.Left, wentAway
	}
	s.enter(p.proc, how)
	s.tell(membership.Publish{Entries: []membership.Entry{membership.Process(kind, uint32(p.proc))}})
	if p.left {
		return
	}
	for _, name := range p.told { // once all that it has said was heard (B24)
		s.outlive(name)
		s.tell(membership.Publish{Entries: []membership.Entry{{Kind: membership.Revoked, Name: name}}})
	}
}

// outlive has the ranks of the node know of a revocation whose revoker has died.
func (s *station) outlive(name commstate.Revocation) {
	for _, p := range s.ranks {
		wait := s.run.draw(forNodeNews, p.proc).Tail(s.run.setup.news)
		s.run.plan(wait, func() { p.happen(func() { p.step(control.Outlived{Name: name}) }) })
	}
}

// learn puts what other nodes have told into the list.
func (s *station) learn(a membership.Learned) {
	for _, e := range a.Entries {
		if e.Kind == membership.Revoked {
			s.outlive(e.Name)
			continue
		}
		must.That(s.run.ranks[e.Number()].station.me == a.Origin, "process %d of member %d", e.Number(), a.Origin)
		how := died
		if e.Kind == membership.Left {
			how = wentAway
		}
		if !s.enter(int(e.Number()), how) && !s.declarations.Has(a.Origin) {
			s.run.fail("B23", "%s learns twice of the end of process %d", s.name(), e.Number())
		}
	}
}

// lose puts the ranks of a node that was declared into the list.
func (s *station) lose(other *station) {
	s.declarations.Add(other.me)
	for _, p := range other.ranks {
		s.enter(p.proc, lost)
	}
}

// end ends the ranks and the daemon.
func (s *station) end() {
	s.over = true
	for _, p := range s.ranks {
		if !p.ended() {
			p.kill()
		}
	}
}

// complain notes that lanes to another node lack a connection, or do not any more. The daemon
// hears of it a little later, and tells the coordinator.
func (s *station) complain(of *station, more int) {
	s.complaints[of.me] += more
	s.inTrouble()
	of.inTrouble()
	s.run.plan(world.MessageDelay, func() {
		switch complains := s.complaints[of.me] > 0; {
		case complains == s.complained[of.me]:
		case complains:
			s.complained[of.me] = true
			s.tell(membership.Unreachable{Member: of.me})
		default:
			s.complained[of.me] = false
			s.tell(membership.Reachable{Member: of.me})
		}
	})
}

// resume is the daemon going on, after it or its machine stood still: time first, then what lay
// in its queues.
func (s *station) resume() {
	if s.paused > 0 || s.stopped > 0 {
		return
	}
	s.late = false
	s.happen()
	waits := s.waits
	s.waits = nil
	for _, do := range waits {
		do()
	}
	if s.run.setup.detect > 0 {
		inbox := s.inbox
		s.inbox = nil
		s.happen(inbox...)
	}
	for len(s.inbox) > 0 && !s.stands() {
		ev := s.inbox[0]
		s.inbox = s.inbox[1:]
		s.happen(ev)
	}
}

// hasComplaints says whether there are lanes between its ranks and others that reach nobody.
func (s *station) hasComplaints() bool {
	return slices.ContainsFunc(s.run.stations, func(x *station) bool { return x.complaints[s.me] > 0 || s.complaints[x.me] > 0 })
}

// inTrouble notes that something is wrong with the ways of the machine until now.
func (s *station) inTrouble() { s.trouble = s.run.now }

func (s *station) describe() string {
	text := fmt.Sprintf("%s: gone %v, off %v, over %v, paused %d, stopped %d, frozen %v, declared %v, lease for %v, list %v\n  %s\n",
		s.name(), s.gone, s.off, s.over, s.paused, s.stopped, s.frozen, s.declared, s.lease.Sub(s.local(s.run.now)), s.list, s.rules.Describe())
	for _, p := range s.ranks {
		text += p.describe()
	}
	return text
}
