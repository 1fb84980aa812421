package membership

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/eventqueue"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

const ms = mono.Millisecond

// A world is a job on several nodes in virtual time: daemons with clocks of their own, the ranks
// that they freeze, links that lose, delay and are cut in one direction, pauses and deaths. After
// every step it checks whether the promises of this package hold.
type world struct {
	rng     *rand.Rand
	cfg     Config
	now     mono.Time // real time
	members []*member
	plans   eventqueue.Agenda[mono.Time]

	delay  mono.Duration // the longest of a message
	loss   float64       // of a datagram
	cut    [][]bool      // cut[from][to]: nothing arrives
	jitter mono.Duration // the most by which a daemon is late
	deaf   [2]int        // heartbeats of the ring from the one to the other are lost, if not both 0
	storm  bool          // some messages take up to a thousand times as long
	// members that others were wrongly notified have ended: I18 does not hold for them
	wronged    rankset.Set
	messages   int
	heartbeats int                          // of the ring
	last       map[[2]int]map[string][]byte // the last message of a kind, by its ends; for scripts

	acted     uint32        // the latest epoch with a coordinator that has granted or declared anything
	versions  []rankset.Set // that have come to count
	violation error
	log       func(format string, args ...any)
}

// A member is a daemon or the launcher.
type member struct {
	r            *Roster
	rate         float64 // its clock against real time
	offset       mono.Time
	gone         bool // the process has ended
	absent       bool // it has not begun
	paused       bool // the whole machine stands still
	inbox        []func()
	wake         int // the number of the plan that wakes it; an older one is void
	frozen       bool
	freezes      int
	thaws        int
	declarations rankset.Set
	told         map[int]mono.Time // when it learned each declaration
	list         []Entry           // all entries that it has learned
	fenced       bool
	ended        bool // by End
}

// runs reports whether the ranks of a node may do anything.
func (m *member) runs() bool {
	return !m.gone && !m.absent && !m.paused && !m.frozen && !m.fenced && !m.ended
}

func (m *member) lives() bool { return !m.gone && !m.absent && !m.fenced && !m.ended }

func newWorld(rng *rand.Rand, cfg Config) *world {
	w := &world{rng: rng, cfg: cfg.WithDefaults(), delay: ms}
	for me := range cfg.Members {
		c := cfg
		c.Me = me
		c.Absent = cfg.Absent.Clone()
		c.Absent.Remove(me)
		m := &member{rate: 1, absent: cfg.Absent.Has(me), told: map[int]mono.Time{}}
		if rng != nil {
			m.rate = 1 + (rng.Float64()*2-1)*1e-3
			m.offset = mono.Time(rng.Int64N(1 << 40))
		}
		c.Start = m.local(0)
		m.r = New(c)
		w.members = append(w.members, m)
		w.cut = append(w.cut, make([]bool, cfg.Members))
	}
	for me := range w.members {
		w.schedule(me)
	}
	return w
}

func (m *member) local(real mono.Time) mono.Time {
	return m.offset + mono.Time(math.Floor(float64(real)*m.rate))
}

func (m *member) real(local mono.Time) mono.Time {
	return mono.Time(math.Ceil(float64(local-m.offset)/m.rate)) + 1
}

func (w *world) violated(format string, args ...any) {
	if w.violation == nil {
		w.violation = fmt.Errorf("at %v: "+format, append([]any{mono.Duration(w.now)}, args...)...)
		w.say("VIOLATION %v", w.violation)
	}
}

func (w *world) say(format string, args ...any) {
	if w.log != nil {
		w.log(format, args...)
	}
}

// at plans something.
func (w *world) at(when mono.Time, do func()) {
	w.plans.Plan(max(when, w.now), do)
}

// runUntil lets everything happen that is planned up to a time.
func (w *world) runUntil(end mono.Time) {
	for w.plans.Due(end) && w.violation == nil {
		var do func()
		w.now, do = w.plans.Take()
		do()
	}
	w.now = max(w.now, end)
}

func (w *world) schedule(me int) {
	m := w.members[me]
	if m.gone || m.absent || m.paused {
		return
	}
	at, ok := m.r.Deadline()
	if !ok {
		return
	}
	late := mono.Duration(0)
	if w.jitter > 0 {
		late = mono.Duration(w.rng.Int64N(int64(w.jitter)))
	}
	m.wake++
	mine := m.wake
	w.at(m.real(at).Add(late), func() {
		if mine == m.wake {
			w.step(me, nil)
		}
	})
}

// step gives a member the time, then an event, unless ev is nil.
func (w *world) step(me int, ev Event) {
	m := w.members[me]
	if m.gone || m.absent {
		return
	}
	if m.paused {
		if ev != nil {
			m.inbox = append(m.inbox, func() { w.step(me, ev) })
		}
		return
	}
	w.apply(me, slices.Clone(m.r.Step(Tick{Now: m.local(w.now)})))
	if ev != nil {
		w.apply(me, slices.Clone(m.r.Step(ev)))
		if w.cfg.Adaptive != nil { // an arrival takes effect at the next Tick
			w.apply(me, slices.Clone(m.r.Step(Tick{Now: m.local(w.now)})))
		}
	}
	w.checkVersions(me)
	w.schedule(me)
}

func (w *world) apply(me int, actions []Action) {
	m := w.members[me]
	for _, a := range actions {
		switch a := a.(type) {
		case Send:
			w.carry(me, a)
		case Freeze:
			m.frozen = true
			m.freezes++
			w.say("%d freezes", me)
		case Thaw:
			m.frozen = false
			m.thaws++
			w.say("%d thaws", me)
			w.checkNotDeclared(me)
		case Declaration:
			w.checkDeclarer(me, a.Member)
			m.declarations.Add(a.Member)
			m.told[a.Member] = w.now
			w.say("%d: %d is dead", me, a.Member)
			if w.members[a.Member].runs() && !w.wronged.Has(a.Member) {
				w.violated("I18: %d holds %d for dead, which runs", me, a.Member)
			}
		case Learned:
			m.list = append(m.list, a.Entries...)
			for _, e := range a.Entries {
				w.say("%d learns from %d: %v %d", me, a.Origin, e.Kind, e.Number())
			}
		case Suspect:
			w.say("%d suspects %d, silent for %v", me, a.Member, a.Silent)
		case Coordinator:
			w.say("%d: %d is the coordinator of epoch %d", me, a.Member, a.Epoch)
		case Fenced:
			m.fenced = true
			w.say("%d is fenced, told by %d", me, a.By)
		case End:
			m.ended = true
			w.say("%d ends, frozen for %v", me, a.Frozen)
		case Anomaly:
			w.violated("%d: anomaly from %d: %s", me, a.From, a.Text)
		}
	}
}

// carry takes a message to its receiver, or not.
func (w *world) carry(from int, s Send) {
	w.messages++
	w.watch(from, s)
	if heartbeat := s.Datagram && s.Msg[0] == kindRing; heartbeat {
		w.heartbeats++
		if w.deaf == [2]int{from, s.To} {
			return
		}
	}
	if w.cut[from][s.To] || s.Datagram && w.loss > 0 && w.rng.Float64() < w.loss {
		return
	}
	took := w.delay
	if w.rng != nil {
		took = mono.Duration(w.rng.Int64N(int64(w.delay))) + 1
		if w.storm && w.rng.IntN(4) == 0 {
			took *= mono.Duration(1 + w.rng.IntN(1000))
		}
	}
	w.at(w.now.Add(took), func() {
		if !w.cut[from][s.To] {
			w.step(s.To, Receive{From: from, Msg: s.Msg})
		}
	})
}

// watch holds coordinators to I20: nothing of an earlier epoch takes effect after a later one's.
func (w *world) watch(from int, s Send) {
	m, err := parseMessage(s.Msg, w.cfg.Members)
	if err != nil {
		w.violated("%d sends what cannot be read: %v", from, err)
		return
	}
	if w.log != nil {
		w.keep([2]int{from, s.To}, m, s.Msg)
	}
	if g, ok := m.(grant); ok && g.lease {
		w.act(from, g.epoch, "grants")
	}
	if w.members[from].declarations.Has(s.To) {
		if _, told := m.(dead); !told {
			if ring, ok := m.(ringMessage); !ok || len(ring.inner) != 1 {
				w.violated("%d sends %T to %d, which it holds for dead", from, m, s.To)
			}
		}
	}
}

// keep is for replaying a message later.
func (w *world) keep(ends [2]int, m message, bytes []byte) {
	if w.last == nil {
		w.last = map[[2]int]map[string][]byte{}
	}
	if w.last[ends] == nil {
		w.last[ends] = map[string][]byte{}
	}
	w.last[ends][strings.TrimPrefix(fmt.Sprintf("%T", m), "membership.")] = bytes
}

func (w *world) act(me int, epoch uint32, what string) {
	if epoch < w.acted {
		w.violated("I20: %d %s in epoch %d, epoch %d has acted", me, what, epoch, w.acted)
	}
	w.acted = epoch
}

// checkDeclarer: a death is known first to the coordinator that declares it (B22).
func (w *world) checkDeclarer(me, victim int) {
	for _, m := range w.members {
		if m.declarations.Has(victim) {
			return
		}
	}
	h := w.members[me].r.coordinator
	if h == nil {
		w.violated("B22: %d declares %d and is no coordinator", me, victim)
		return
	}
	w.act(me, h.record.Epoch, "declares")
}

// checkVersions: versions that count are a chain, for all coordinators that make them count.
func (w *world) checkVersions(me int) {
	h := w.members[me].r.coordinator
	if h == nil || !h.committed || h.record.Dead.IsEmpty() {
		return
	}
	for _, known := range w.versions {
		if known.Equal(h.record.Dead) {
			return
		}
		if !known.SubsetOf(h.record.Dead) && !h.record.Dead.SubsetOf(known) {
			w.violated("I20: dead %v counts, and dead %v", known, h.record.Dead)
		}
	}
	w.versions = append(w.versions, h.record.Dead.Clone())
}

// checkNotDeclared: a node that begins to run is dead to nobody.
func (w *world) checkNotDeclared(me int) {
	if !w.members[me].runs() {
		return
	}
	for by, m := range w.members {
		if m.declarations.Has(me) {
			w.violated("I18: %d runs, %d holds it for dead", me, by)
		}
	}
}

// come makes an absent member begin: the launcher learns of it first, then the member begins, then
// all others in the launcher's reach are notified, at times of their own. A paused member is
// notified later.
func (w *world) come(me int) {
	if !w.members[me].absent || w.members[Launcher].gone {
		return
	}
	w.step(Launcher, Came{Member: me})
	if w.members[Launcher].paused {
		w.at(w.now.Add(10*ms), func() { w.begin(me) })
		return
	}
	w.begin(me)
}

func (w *world) begin(me int) {
	if w.members[Launcher].r.absent.Has(me) { // it is paused
		w.at(w.now.Add(10*ms), func() { w.begin(me) })
		return
	}
	m, c := w.members[me], w.cfg
	c.Me, c.Late, c.Start, c.Absent = me, true, m.local(w.now), w.members[Launcher].r.absent.Clone()
	m.r, m.absent = New(c), false
	w.say("%d begins", me)
	w.step(me, nil)
	for other := range w.members {
		if other != me && other != Launcher {
			w.tellCame(me, other)
		}
	}
}

// tellCame has another member know, once the launcher reaches it.
func (w *world) tellCame(me, other int) {
	took := w.delay
	if w.rng != nil {
		took = mono.Duration(w.rng.Int64N(int64(200 * ms)))
	}
	w.at(w.now.Add(took), func() {
		switch {
		case w.cut[Launcher][other]:
			w.tellCame(me, other)
		case !w.members[other].absent:
			w.step(other, Came{Member: me})
		}
	})
}

// kill ends a process: connections to it end at once, and new ones are refused.
func (w *world) kill(me int) {
	w.members[me].gone = true
	for other := range w.members {
		if other != me {
			w.at(w.now.Add(w.delay), func() {
				if !w.cut[me][other] && !w.cut[other][me] {
					w.step(other, Refused{Member: me})
				}
			})
		}
	}
}

// powerOff ends a machine: it is only silent.
func (w *world) powerOff(me int) { w.members[me].gone = true }

// pause stops a machine: messages to it meanwhile wait in its queues.
func (w *world) pause(me int, d mono.Duration) {
	m := w.members[me]
	if m.paused || m.gone {
		return
	}
	m.paused = true
	w.at(w.now.Add(d), func() { w.resume(me) })
}

func (w *world) resume(me int) {
	m := w.members[me]
	if !m.paused {
		return
	}
	m.paused = false
	w.step(me, nil)
	w.checkNotDeclared(me)
	inbox := m.inbox
	m.inbox = nil
	for _, do := range inbox {
		do()
	}
}

// sever cuts all traffic from one group to another, in that direction.
func (w *world) sever(from, to rankset.Set, broken bool) {
	for a := range from.All() {
		for b := range to.All() {
			if a != b {
				w.cut[a][b] = broken
			}
		}
	}
}

func (w *world) heal() {
	for from := range w.cut {
		clear(w.cut[from])
	}
}

// settled returns the first violation of the final state, once all faults are over: all live
// members run, obey one coordinator, and consider exactly the dead ones dead.
func (w *world) settled() error {
	acting := 0
	var dead rankset.Set
	for me, m := range w.members {
		if !m.lives() && !m.absent {
			dead.Add(me)
		}
	}
	for me, m := range w.members {
		if !m.lives() {
			continue
		}
		if m.frozen {
			return fmt.Errorf("%d is frozen: %s", me, m.r.Describe())
		}
		if !m.declarations.Equal(dead) {
			return fmt.Errorf("%d holds %v for dead, dead are %v", me, m.declarations, dead)
		}
		if _, acts := m.r.Leads(); acts {
			acting++
		}
	}
	if acting != 1 {
		return fmt.Errorf("%d coordinators", acting)
	}
	return nil
}
