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

// station is a machine with its daemon, a member of the roster: 0 is the machine of the launcher,
// without ranks, and m that of node m-1.
type station struct {
	run    *nodeRun
	me     int
	rules  *membership.Roster
	rate   float64 // of its clock, against real time
	offset mono.Time
	wakes  int // number of the last scheduled wake of the daemon; older ones are void
	inbox  []membership.Event

	gone    bool     // the daemon has ended
	off     bool     // the machine has ended, and is silent
	over    bool     // the daemon has ended itself and its ranks
	paused  int      // number of faults that pause the whole machine now
	stopped int      // number of faults that pause the daemon alone
	late    bool     // the machine has resumed, and its daemon has not run yet
	waits   []func() // functions that wait until the daemon resumes
	queued  []func() // functions that wait until the machine resumes: events in its kernel

	ranks      []*nodeRank
	list       []departure // ended processes of all nodes, in the order in which all ranks here learn of them
	listed     rankset.Set // processes in it
	heap       *onenode.Heap
	lease      mono.Time // by its own clock
	frozen     bool      // the daemon has stopped the ranks
	complaints []int     // by member: lanes of ranks here without a connection to a rank there
	complained []bool    // by member: the daemon knows of this

	declarations rankset.Set // members whose declaration is known here
	trouble      mono.Time   // end of the last cut from the launcher or of the last lane without a connection
	stood        mono.Time   // end of the last pause
	declared     bool        // a member knows that this one is dead
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

// local returns the time that the clock of the machine shows.
func (s *station) local(real mono.Time) mono.Time {
	return s.offset + mono.Time(math.Floor(float64(real)*s.rate))
}

// real returns the time at which the clock shows a local time.
func (s *station) real(local mono.Time) mono.Time {
	return mono.Time(math.Ceil(float64(local-s.offset)/s.rate)) + 1
}

func (s *station) name() string {
	if s.me == membership.Launcher {
		return "launcher"
	}
	return fmt.Sprintf("node %d", s.me-1)
}

// leaseIsOver reports whether the lease is over by the clock of the machine.
func (s *station) leaseIsOver() bool { return s.local(s.run.now) >= s.lease }

// needsLease reports whether a coordinator grants leases to this member. An attached launcher needs
// none.
func (s *station) needsLease() bool { return s.me != membership.Launcher || s.run.setup.survive }

// stands reports whether the daemon is paused.
func (s *station) stands() bool { return s.paused > 0 || s.stopped > 0 || s.late }

// counts reports whether the results of its ranks count: the node has not been declared, and has
// not ended.
func (s *station) counts() bool { return !s.gone && !s.over && !s.declared }

// schedule wakes the daemon at the deadline of its rules.
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

// tell passes an event to the daemon, as soon as the daemon is not paused.
func (s *station) tell(ev membership.Event) {
	if s.stands() || len(s.inbox) > 0 {
		s.inbox = append(s.inbox, ev)
		return
	}
	s.happen(ev)
}

// happen is a turn of the daemon. The time comes before each event, and after it. If the ring
// measures the paths between daemons, the time comes only after all events that arrived together.
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

// step passes an event, or the time, to the rules, and executes the resulting actions.
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

// send transmits a message to another daemon, unless the path loses the message.
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

// renew records the lease, and resumes the ranks that had found it over.
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

// awake resumes the ranks that do not stand still.
func (s *station) awake() {
	for _, p := range s.ranks {
		if !p.stands() {
			p.run.plan(0, p.goOn)
		}
	}
}

// enter appends an entry to the list of the node. Its ranks read the list, each after a delay. The
// result reports whether the entry is new.
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

// found handles the end of one of the daemon's own ranks. The end is in the list here before any
// other node learns of it (B23).
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
	for _, name := range p.told { // once all its frames were received (B24)
		s.outlive(name)
		s.tell(membership.Publish{Entries: []membership.Entry{{Kind: membership.Revoked, Name: name}}})
	}
}

// outlive informs the ranks of the node of a revocation whose revoker has died.
func (s *station) outlive(name commstate.Revocation) {
	for _, p := range s.ranks {
		wait := s.run.draw(forNodeNews, p.proc).Tail(s.run.setup.news)
		s.run.plan(wait, func() { p.happen(func() { p.step(control.Outlived{Name: name}) }) })
	}
}

// learn puts news of other nodes into the list.
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

// lose puts the ranks of a declared node into the list.
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

// complain notes that lanes to another node lack a connection, or have one again. The daemon learns
// this a little later, and informs the coordinator.
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

// resume continues the daemon after a pause: the time first, and then the events in its queues.
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

// hasComplaints reports whether any lane from or to its ranks lacks a connection.
func (s *station) hasComplaints() bool {
	return slices.ContainsFunc(s.run.stations, func(x *station) bool { return x.complaints[s.me] > 0 || s.complaints[x.me] > 0 })
}

// inTrouble notes a fault of the paths of the machine at this time.
func (s *station) inTrouble() { s.trouble = s.run.now }

func (s *station) describe() string {
	text := fmt.Sprintf("%s: gone %v, off %v, over %v, paused %d, stopped %d, frozen %v, declared %v, lease for %v, list %v\n  %s\n",
		s.name(), s.gone, s.off, s.over, s.paused, s.stopped, s.frozen, s.declared, s.lease.Sub(s.local(s.run.now)), s.list, s.rules.Describe())
	for _, p := range s.ranks {
		text += p.describe()
	}
	return text
}
