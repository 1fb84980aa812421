package fd

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/flood"
)

// A Detector is one process's failure detector. Its single responsibility is to turn evidence
// (silence, exits, notices of others) into declarations of death, each made once.
type Detector struct {
	cfg   Config
	flood *flood.Flood // spreads the dead and the left: item r means that r is dead, item N+r that r has left

	dead   rankset.Set // declared here; only grows, but for Vacated; never holds Me
	left   rankset.Set // finalized, and not declared before; only grows, but for Vacated
	ended  rankset.Set // declared on exact evidence; only grows, but for Vacated; part of dead
	absent rankset.Set // not there yet
	late   rankset.Set // were absent, and have come; only grows
	told   rankset.Set // dead processes that need no further fence notice: informed, or known to have ended
	fenced bool        // this process was declared dead: nothing happens any more

	now      mono.Time // the last Tick's
	nextBeat mono.Time // when the next heartbeat is due (HB-TIMEOUT)
	emitter  int       // nearest live predecessor; Me when alone
	observer int       // receiver of the heartbeats; Me when alone
	claim    int       // the farthest live process that claimed to observe me; Me if none
	silence  timer     // of the emitter (SUSP-TIMEOUT)
	breadth  int       // how many predecessors of a silent emitter to watch (B9)
	behind   int       // the silent emitter with watched predecessors; Me if none
	drift    mono.Duration
	checks   []check // open checks, ascending by rank

	rhythm      rhythm       // Config.Adaptive: of the heartbeats from here
	observation *observation // Config.Adaptive: measurements of the emitter; nil without

	out   []Action
	posts []Send // sends of this Step, put behind its declarations
}

// New returns a detector in which all processes are alive. The configuration must pass Check.
func New(cfg Config) *Detector {
	err := cfg.Check()
	must.That(err == nil, "%v", err)
	cfg = cfg.WithDefaults()
	d := &Detector{
		cfg:      cfg,
		flood:    flood.New(flood.Config{N: cfg.N, Me: cfg.Me, Items: 2 * cfg.N, Silent: cfg.Mode == Exact}),
		now:      cfg.Start,
		nextBeat: cfg.Start,
		emitter:  predecessor(cfg.N, cfg.Me, rankset.Set{}),
		observer: successor(cfg.N, cfg.Me, rankset.Set{}),
		claim:    cfg.Me,
		breadth:  1,
		behind:   cfg.Me,
	}
	d.silence.start(2 * cfg.Timeout)
	d.silence.tick(cfg.Start)
	if cfg.Adaptive != nil {
		d.rhythm.period, d.rhythm.requested = cfg.Period, cfg.Period
		d.observation = &observation{of: nobody}
		d.observe()
	}
	return d
}

// Step applies one event and returns the actions that the caller must execute in order: the
// declarations before all messages. Step never blocks and reads no clock. The slice is valid until
// the next Step. An event that names a process outside [0, N) is a bug of the caller and panics; so
// is one that names this process, except Exited, Left and Agreed.
func (d *Detector) Step(ev Event) []Action {
	d.out, d.posts = d.out[:0], d.posts[:0]
	if d.fenced {
		return nil
	}
	switch ev := ev.(type) {
	case Tick:
		d.tick(ev.Now)
	case Receive:
		d.receive(ev.From, ev.Msg)
	case Exited:
		d.exited(ev.Rank)
	case Agreed:
		d.learn(ev.Dead, ByAgreement)
	case Broken:
		d.broken(ev.Rank)
	case Watch:
		d.watch(ev.Rank)
	case Left:
		d.depart(ev.Rank)
	case Absent:
		d.miss(ev.Ranks)
	case Came:
		d.come(ev.Rank)
	case Vacated:
		d.vacate(ev.Rank)
	}
	d.deliverPosts()
	return d.out
}

// Deadline returns when the detector next requires a Tick, if ever. The deadline changes only with
// a Step.
func (d *Detector) Deadline() (mono.Time, bool) {
	if d.fenced || !d.ringing() {
		return 0, false
	}
	next := d.nextBeat
	if d.silence.ticked && !d.suspects(d.emitter) {
		next = min(next, d.silence.at)
	}
	for i := range d.checks {
		if c := &d.checks[i]; c.timer.ticked && c.stage != unanswered {
			next = min(next, c.timer.at)
		}
	}
	if o := d.observation; o != nil && o.of == d.emitter {
		next = min(next, o.deadline())
	}
	return next, true
}

// Dead returns a copy of the set of processes declared dead here.
func (d *Detector) Dead() rankset.Set { return d.dead.Clone() }

// Digest returns the digest of the dead and the left processes that heartbeats carry.
func (d *Detector) Digest() uint64 { return d.flood.Digest() }

// Emitter returns the nearest live predecessor, which is observed here in Ring mode, or -1 when
// alone (B13).
func (d *Detector) Emitter() int { return d.otherOrNone(d.emitter) }

// Observer returns the process that receives the heartbeats sent here in Ring mode, the nearest
// live successor in Exact mode, or -1 when alone (B13).
func (d *Detector) Observer() int { return d.otherOrNone(d.observer) }

// Alone reports whether every other process is dead, has left or is absent: FindEmitter of the
// paper would return this process itself (B13).
func (d *Detector) Alone() bool { return d.emitter == d.cfg.Me }

// Drift returns the largest delay of a Tick after its deadline: how late this process has been
// (B17). Config states which lateness is harmless.
func (d *Detector) Drift() mono.Duration { return d.drift }

// Describe returns the state in one line, for a person.
func (d *Detector) Describe() string {
	where := "alone"
	if !d.Alone() {
		where = fmt.Sprintf("emitter %d observer %d", d.emitter, d.observer)
	}
	text := fmt.Sprintf("process %d of %d, %v: %s, dead %v", d.cfg.Me, d.cfg.N, d.cfg.Mode, where, d.dead)
	if !d.left.IsEmpty() {
		text += fmt.Sprintf(", left %v", d.left)
	}
	if !d.absent.IsEmpty() {
		text += fmt.Sprintf(", absent %v", d.absent)
	}
	for i := range d.checks {
		text += fmt.Sprintf(", %d %v", d.checks[i].rank, d.checks[i].stage)
	}
	if d.observation != nil {
		text += fmt.Sprintf(", beats each %v, wants one each %v", d.rhythm.period, mono.Duration(d.observation.watch.Wanted()))
	}
	if d.drift > d.cfg.Period {
		text += fmt.Sprintf(", was late by %v", d.drift)
	}
	if d.fenced {
		text += ", fenced"
	}
	return text
}

func (d *Detector) otherOrNone(rank int) int {
	if rank == d.cfg.Me {
		return -1
	}
	return rank
}

// gone returns the processes outside the ring: dead, left, or absent.
func (d *Detector) gone() rankset.Set {
	gone := d.dead.Clone()
	gone.Union(d.absent)
	gone.Union(d.left)
	return gone
}

// isGone reports whether a process is dead, left or absent.
func (d *Detector) isGone(rank int) bool {
	return d.dead.Has(rank) || d.left.Has(rank) || d.absent.Has(rank)
}

// ringing reports whether this process takes part in a ring.
func (d *Detector) ringing() bool {
	return d.cfg.Mode == Ring && !d.Alone() && !d.left.Has(d.cfg.Me)
}

func (d *Detector) receive(from int, msg []byte) {
	d.checkPeer(from)
	if d.dead.Has(from) {
		d.tellDead(from)
		return
	}
	if d.left.Has(from) || d.absent.Has(from) {
		return
	}
	m, err := parseMessage(msg)
	d.signOfLife(from, m.told)
	if err != nil {
		d.out = append(d.out, Anomaly{From: from, Text: "failure detector: " + err.Error()})
		return
	}
	switch m.kind {
	case kindHeartbeat:
		d.compare(from, m.digest)
	case kindNewObserver:
		d.newObserver(from, m.digest, m.told)
	case kindProbe:
		d.mail(from, digestMessage(kindHeartbeat, d.flood.Digest()))
		d.compare(from, m.digest)
	case kindNotice:
		d.follow(from, d.flood.Step(flood.Receive{From: from, Msg: m.flooded}), ByNotice)
	case kindFence:
		d.fence(from)
	}
}

// newObserver is T4. A heartbeat is sent at once, unless the message is stale, so that the new
// observer need not wait for the next period; the sets are exchanged if they differ (B2).
func (d *Detector) newObserver(from int, digest uint64, told adaptive.Message) {
	if d.adopt(from) {
		d.mail(from, d.obey(told))
	}
	d.compare(from, digest)
}

// compare repairs a flood that was cut: a process with a different dead set receives the local set,
// and answers with its own set if that has more (B3).
func (d *Detector) compare(with int, digest uint64) {
	d.follow(with, d.flood.Step(flood.Compare{With: with, Digest: digest}), ByNotice)
}

// tellDead informs a process that was declared dead of its declaration, once (A2, F6). A process
// that is known to have ended is not informed.
func (d *Detector) tellDead(rank int) {
	if d.told.Add(rank) {
		d.out = append(d.out, Send{To: rank, Msg: fenceMessage()})
	}
}

// exited declares a death on exact evidence. A process that has left may end. If the evidence is
// about this process, this process stops.
func (d *Detector) exited(rank int) {
	d.checkRank(rank)
	if d.left.Has(rank) && rank != d.cfg.Me {
		return
	}
	d.told.Add(rank)
	if rank != d.cfg.Me {
		d.ended.Add(rank)
	}
	d.learn(rankset.Of(rank), ByExit)
}

// learn adds processes to the dead set at first hand, and floods the whole set.
func (d *Detector) learn(dead rankset.Set, evidence Evidence) {
	must.That(dead.Next(d.cfg.N) < 0, "dead %v of %d processes", dead, d.cfg.N)
	if dead.Has(d.cfg.Me) {
		d.fence(-1)
		return
	}
	d.follow(-1, d.flood.Step(flood.Publish{Items: dead}), evidence)
}

// follow executes the actions of the flood. Newly dead processes are declared, newly left ones
// removed, and the ring is rewired: any growth of the two sets runs through here, from every
// source. News of this process's own death stops it, and so does news that would make it a
// minority. The actions are used up before the next step of the flood, which overwrites them.
func (d *Detector) follow(from int, actions []flood.Action, evidence Evidence) {
	var news rankset.Set
	for _, a := range actions {
		switch a := a.(type) {
		case flood.Deliver:
			news = a.Items
		case flood.Send:
			d.mail(a.To, noticeMessage(a.Msg))
		case flood.Anomaly:
			d.out = append(d.out, Anomaly{From: a.From, Text: "failure detector: " + a.Text})
		}
	}
	if news.IsEmpty() {
		return
	}
	dead, left := d.split(news)
	switch {
	case dead.Has(d.cfg.Me):
		d.fence(from)
	case d.wouldBeMinority(dead):
		d.abandon()
	default:
		for rank := range dead.All() {
			d.declare(rank, evidence)
		}
		for rank := range left.All() {
			d.leave(rank)
		}
		d.rewire()
		d.mustAgree()
	}
}

// split takes the items of the flood apart.
func (d *Detector) split(items rankset.Set) (dead, left rankset.Set) {
	for item := range items.All() {
		if item < d.cfg.N {
			dead.Add(item)
		} else {
			left.Add(item - d.cfg.N)
		}
	}
	return dead, left
}

// mustAgree states that the detector and its flood know the same deaths, and that
// the ring runs through none of them.
func (d *Detector) mustAgree() {
	if must.Costly {
		dead, _ := d.split(d.flood.Items())
		must.That(d.dead.Equal(dead), "dead %v, flooded %v", d.dead, dead)
		must.That(!d.dead.Has(d.emitter) && !d.dead.Has(d.observer), "%s", d.Describe())
	}
}

// declare records a death here. A declared observer that is in fact alive receives no more
// heartbeats, and would suspect this process and then one predecessor after the other (B11).
// Therefore the observer is sent a fence notice, unless it is known to have ended.
func (d *Detector) declare(rank int, evidence Evidence) {
	must.That(rank != d.cfg.Me && d.dead.Add(rank), "%d declared, dead are %v", rank, d.dead)
	d.out = append(d.out, Declare{Rank: rank, Evidence: evidence})
	if rank == d.observer && evidence != ByExit && d.cfg.Mode == Ring && d.told.Add(rank) {
		d.mail(rank, fenceMessage())
	}
	d.close(rank)
}

// close removes a process from the flood and ends its check. The flood sends its repair to its new
// neighbours.
func (d *Detector) close(rank int) {
	d.endCheck(rank)
	d.follow(-1, d.flood.Step(flood.Failed{Rank: rank}), ByNotice)
}

// depart is Left: the process itself announces its departure to all, by the flood (B16). The
// departure of another process has reached all by other means.
func (d *Detector) depart(rank int) {
	d.checkRank(rank)
	item := rankset.Of(d.cfg.N + rank)
	if rank != d.cfg.Me {
		d.follow(-1, d.flood.Step(flood.Note{Items: item}), ByNotice)
		return
	}
	d.follow(-1, d.flood.Step(flood.Publish{Items: item}), ByNotice)
}

// leave removes a finalized process from the ring and the flood; a declaration made before stands.
// Death notices that the process had sent before, and that arrive later, are dropped: they are lost
// as if the process had died, and its successor on the ring finds these deaths again.
func (d *Detector) leave(rank int) {
	if d.dead.Has(rank) || !d.left.Add(rank) {
		return
	}
	if rank == d.cfg.Me {
		d.checks = d.checks[:0]
		return
	}
	d.close(rank)
}

// miss removes processes that are not there yet from the ring and the flood.
func (d *Detector) miss(ranks rankset.Set) {
	must.That(!ranks.Has(d.cfg.Me) && ranks.Next(d.cfg.N) < 0, "process %d misses %v", d.cfg.Me, ranks)
	for rank := range ranks.All() {
		if d.absent.Add(rank) {
			d.close(rank)
		}
	}
	d.rewire()
}

// come adds a process that was absent, unless it was declared dead meanwhile. A claim to observe
// this process from beyond the new one was made while that was absent, and is dropped.
func (d *Detector) come(rank int) {
	d.checkPeer(rank)
	if !d.absent.Remove(rank) {
		return
	}
	d.late.Add(rank)
	if d.dead.Has(rank) || d.left.Has(rank) { // it has come and gone meanwhile
		return
	}
	if !d.ringing() {
		d.nextBeat = d.now // this process was alone
	}
	d.follow(-1, d.flood.Step(flood.Came{Rank: rank}), ByNotice)
	if d.claim != d.cfg.Me && d.skips(d.claim) {
		d.claim = d.cfg.Me
	}
	d.rewire()
}

// vacate forgets a process: the next process of that number is a different one.
func (d *Detector) vacate(rank int) {
	d.checkPeer(rank)
	if d.cfg.Mode != Exact {
		return
	}
	for _, set := range []*rankset.Set{&d.dead, &d.left, &d.ended, &d.told} {
		set.Remove(rank)
	}
	d.flood.Step(flood.Vacated{Rank: rank, Items: rankset.Of(rank, d.cfg.N+rank)})
	d.rewire()
}

// fence is the end of this process (B20): T5 of the paper does not define how a process handles a
// list of dead that contains the process itself. Nothing else of this Step happens: a process that
// was declared dead must not declare a death or send a message.
func (d *Detector) fence(by int) {
	d.fenced = true
	d.posts = d.posts[:0]
	d.checks = d.checks[:0]
	d.out = append(d.out[:0], Fenced{By: by})
}

// abandon is the end of this process on the smaller side of a partition (B18).
func (d *Detector) abandon() {
	d.fence(-1)
	d.out = append(d.out[:0], Fenced{By: -1, Minority: true})
}

// wouldBeMinority reports whether, with these dead as well, this process would belong to the
// smaller side of a possible partition: see Majority. Exact evidence never makes a minority.
func (d *Detector) wouldBeMinority(dead rankset.Set) bool {
	if d.cfg.Partition != Majority || dead.SubsetOf(d.ended) {
		return false
	}
	certain := d.ended.Clone()
	certain.Union(d.left)
	certain.Union(d.absent)
	gone := d.gone()
	gone.Union(dead)
	base, alive := d.cfg.N-certain.Len(), d.cfg.N-gone.Len()
	return 2*alive < base || 2*alive == base && gone.Has(certain.NextAbsent(0))
}

// mail queues a message of the ring or of the flood. In Exact mode there is neither:
// the evidence reaches every process by itself.
func (d *Detector) mail(to int, msg []byte) {
	if d.cfg.Mode == Ring {
		d.posts = append(d.posts, Send{To: to, Msg: msg})
	}
}

// deliverPosts puts the messages behind the declarations of the Step, without messages to dead or
// absent processes. Fence notices are sent to the dead, too.
func (d *Detector) deliverPosts() {
	for _, s := range d.posts {
		if (!d.dead.Has(s.To) || s.Msg[0] == kindFence) && !d.absent.Has(s.To) {
			d.out = append(d.out, s)
		}
	}
	clear(d.posts) // the bytes belong to the caller
}

func (d *Detector) checkRank(rank int) {
	must.That(0 <= rank && rank < d.cfg.N, "process %d of %d", rank, d.cfg.N)
}

func (d *Detector) checkPeer(rank int) {
	d.checkRank(rank)
	must.That(rank != d.cfg.Me, "process %d named itself", rank)
}

func (d *Detector) findCheck(rank int) (int, bool) {
	return slices.BinarySearchFunc(d.checks, rank, func(c check, rank int) int { return c.rank - rank })
}
