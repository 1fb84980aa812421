package main

import (
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/flood"
)

const never = mono.Time(math.MaxInt64)

// A setting is the parameters of the papers: the times of the ring and of the network.
type setting struct {
	name    string
	period  mono.Duration // P
	timeout mono.Duration // T
	tau     mono.Duration // τ: a message takes a time drawn from (0, τ], and its sender's port as long
	inPhase bool          // all heartbeats are sent at the same moments; else at random ones
}

// The scenarios of RR-9024, §4.1.
var (
	lowNoise = setting{name: "LOWNOISE", period: 10 * mono.Second, timeout: 60 * mono.Second, tau: mono.Microsecond}
	lowLat   = setting{name: "LOWLAT", period: 100 * mono.Millisecond, timeout: mono.Second, tau: mono.Microsecond}
)

// config is the detector's. The papers have no second check, so it takes no time.
func (s setting) config(n, me int, start mono.Time) fd.Config {
	return fd.Config{N: n, Me: me, Mode: fd.Ring, Period: s.period, Timeout: s.timeout, Confirm: 1,
		Start: start, Fence: true, AllowShortTimeouts: true}
}

// A death is the result of one failure.
type death struct {
	rank     int
	at       mono.Time
	detected mono.Time // when its observer declared it
	known    mono.Time // when the last survivor knew
	spread   mono.Duration
}

// A world is a ring of n processes. Only the processes near a fault are simulated one by one. All
// others are alike: they send a heartbeat each period, which arrives.
type world struct {
	setting
	agenda
	n    int
	seed uint64

	hot map[int]*process // the processes that have a detector

	deaths   []*death
	byRank   map[int]*death
	diedAt   []mono.Time // by rank; never if alive
	declared rankset.Set // dead ranks with a flooded notice
	lastSign []mono.Time // by rank: when a notice of the nearest live predecessor last came
	floods   int
	sent     int64 // notices
	unheard  int   // survivors that a flood did not reach
	graph    graph
	hotMax   int

	bytesPerNode float64 // the most heap that a long run has used
}

// A process is one with a detector.
type process struct {
	det     *fd.Detector
	touched mono.Time // when it last had to do with a fault
	beating int       // number of the chain of events that bring the heartbeats of its emitter
}

func newWorld(s setting, n int, seed uint64) *world {
	w := &world{setting: s, n: n, seed: seed, hot: map[int]*process{}, byRank: map[int]*death{},
		diedAt: make([]mono.Time, n), lastSign: make([]mono.Time, n), graph: newGraph(n)}
	for i := range w.diedAt {
		w.diedAt[i], w.lastSign[i] = never, math.MinInt64
	}
	return w
}

// phase is when a process sends its heartbeats, modulo the period.
func (s setting) phase(seed uint64, rank int) mono.Time {
	if s.inPhase {
		return 0
	}
	return mono.Time(mix(seed, uint64(rank), 1) % uint64(s.period))
}

// delay is how long message number k from one process to another takes.
func (s setting) delay(seed uint64, from, to int, k uint64) mono.Duration {
	return 1 + mono.Duration(mix(seed^uint64(from)<<32^uint64(to), k, 2)%uint64(s.tau))
}

// mix is a hash: the same message has the same delay for every caller.
func mix(a, b, c uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b*0xbf58476d1ce4e5b9 + c*0x94d049bb133111eb
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// settled reports whether every death is on its way to all.
func (w *world) settled() bool {
	return !slices.ContainsFunc(w.deaths, func(d *death) bool { return d.known == 0 })
}

// runUntilSettled runs until every death planned so far is on its way to all, or limit.
func (w *world) runUntilSettled(limit mono.Time) {
	for !w.settled() && len(w.events) > 0 && w.events[0].at <= limit {
		w.run(w.events[0].at)
	}
}

// kill plans the death of a process.
func (w *world) kill(rank int, at mono.Time) {
	d := &death{rank: rank, at: at}
	w.deaths = append(w.deaths, d)
	w.byRank[rank] = d
	w.plan(at, func() {
		w.diedAt[rank] = at
		delete(w.hot, rank)
		if q := w.livingAfter(rank); q != rank {
			w.touch(q)
		}
	})
}

func (w *world) lives(rank int, at mono.Time) bool { return w.diedAt[rank] > at }

func (w *world) livingAfter(rank int) int {
	q := (rank + 1) % w.n
	for q != rank && !w.lives(q, w.now) {
		q = (q + 1) % w.n
	}
	return q
}

// touch makes a process one of the simulated ones.
func (w *world) touch(rank int) *process {
	p := w.hot[rank]
	if p == nil {
		p = w.materialise(rank)
		w.hot[rank] = p
		w.hotMax = max(w.hotMax, len(w.hot))
		w.wake(rank, p)
		w.nextBeat(rank, p)
	}
	p.touched = w.now
	return p
}

// materialise makes the detector that a process has at this moment, by playing its last two
// timeouts. The detector knows the declared processes, and its emitter has sent heartbeats while
// alive.
func (w *world) materialise(rank int) *process {
	phase := w.phase(w.seed, rank)
	since := w.now.Add(-2*w.timeout - 3*w.period)
	start := since - (since-phase)%mono.Time(w.period)
	p := &process{det: fd.New(w.config(w.n, rank, start))}
	p.det.Step(fd.Agreed{Dead: w.declared})
	emitter := p.det.Emitter()
	if emitter < 0 {
		return p
	}
	own, k := start, w.beatAfter(emitter, start)
	notice := w.lastSign[rank]
	for {
		sent, arrives := w.beat(emitter, k)
		if sent >= w.diedAt[emitter] {
			arrives = never
		}
		at := min(own, arrives)
		if notice > start {
			at = min(at, notice)
		}
		if at > w.now {
			return p
		}
		if at == arrives || at == notice {
			p.det.Step(fd.Receive{From: emitter, Msg: heartbeat(p.det)})
		}
		p.det.Step(fd.Tick{Now: at})
		switch at {
		case arrives:
			k++
		case notice:
			notice = math.MinInt64
		}
		if at == own {
			own = own.Add(w.period)
		}
	}
}

// heartbeat is the message of a process that knows the same deaths as d.
func heartbeat(d *fd.Detector) []byte {
	const kindHeartbeat = 1
	return binary.LittleEndian.AppendUint64([]byte{kindHeartbeat}, d.Digest())
}

// beatAfter returns the number of the first heartbeat sent after t.
func (w *world) beatAfter(rank int, t mono.Time) int64 {
	k := int64(t-w.phase(w.seed, rank)) / int64(w.period)
	for w.phase(w.seed, rank).Add(mono.Duration(k)*w.period) <= t {
		k++
	}
	return k
}

// beat returns when heartbeat k of a process is sent and when it arrives.
func (w *world) beat(rank int, k int64) (sent, arrives mono.Time) {
	sent = w.phase(w.seed, rank).Add(mono.Duration(k) * w.period)
	return sent, sent.Add(w.delay(w.seed, rank, rank, uint64(k)))
}

// nextBeat brings a process the heartbeats of an emitter that has no detector. One that
// has sends its own.
func (w *world) nextBeat(rank int, p *process) {
	emitter := p.det.Emitter()
	if emitter < 0 {
		return
	}
	k := w.beatAfter(emitter, w.now.Add(-w.tau))
	sent, arrives := w.beat(emitter, k)
	for arrives <= w.now {
		k++
		sent, arrives = w.beat(emitter, k)
	}
	p.beating++
	chain := p.beating
	w.plan(arrives, func() {
		if w.hot[rank] != p || p.beating != chain {
			return
		}
		if w.hot[emitter] == nil && w.lives(emitter, sent) && p.det.Emitter() == emitter {
			w.step(rank, p, fd.Receive{From: emitter, Msg: heartbeat(p.det)})
		}
		w.nextBeat(rank, p)
	})
}

// wake plans the Tick that a detector asks for, and takes it away when all is quiet.
func (w *world) wake(rank int, p *process) {
	at, ok := p.det.Deadline()
	if !ok {
		return
	}
	w.plan(max(at, w.now), func() {
		if still, ok := p.det.Deadline(); w.hot[rank] != p || !ok || still != at {
			return
		}
		emitter := p.det.Emitter()
		if w.now > p.touched.Add(3*w.timeout) && emitter >= 0 && w.lives(emitter, w.now) {
			delete(w.hot, rank)
			return
		}
		w.step(rank, p, nil)
	})
}

// step gives a detector an event and the time.
func (w *world) step(rank int, p *process, ev fd.Event) {
	var found []*death
	before := p.det.Emitter()
	for _, ev := range []fd.Event{ev, fd.Tick{Now: w.now}} {
		if ev == nil {
			continue
		}
		for _, a := range p.det.Step(ev) {
			switch a := a.(type) {
			case fd.Declare:
				if a.Evidence == fd.BySilence {
					found = append(found, w.byRank[a.Rank])
				}
			case fd.Send:
				w.deliver(rank, a)
			}
		}
	}
	if len(found) > 0 {
		p.touched = w.now
		w.flood(rank, found)
	}
	w.wake(rank, p)
	if p.det.Emitter() != before {
		w.nextBeat(rank, p)
	}
}

// deliver carries a message of the ring. Notices are left to flood; a heartbeat matters only to a
// simulated process.
func (w *world) deliver(from int, s fd.Send) {
	const kindHeartbeat, kindNotice = 1, 4
	kind := s.Msg[0]
	if kind == kindNotice || kind == kindHeartbeat && w.hot[s.To] == nil {
		return
	}
	w.seq++
	delay := w.delay(w.seed, from, s.To, uint64(w.seq))
	if kind == kindHeartbeat {
		k := (w.now - w.phase(w.seed, from)) / mono.Time(w.period)
		delay = w.delay(w.seed, from, from, uint64(k))
	}
	w.plan(w.now.Add(delay), func() {
		if !w.lives(s.To, w.now) {
			return
		}
		to := w.hot[s.To]
		if kind != kindHeartbeat {
			to = w.touch(s.To)
		}
		if to != nil {
			w.step(s.To, to, fd.Receive{From: from, Msg: s.Msg})
		}
	})
}

// flood spreads deaths from their finders, and books when all survivors know.
func (w *world) flood(from int, found []*death) {
	w.floods++
	dead := rankset.Set{}
	for _, d := range found {
		dead.Add(d.rank)
		if d.detected == 0 {
			d.detected = w.now
		}
	}
	w.declared.Union(dead)
	end := w.spread(from)
	for _, d := range found {
		if d.known == 0 {
			d.known, d.spread = end, end.Sub(w.now)
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(w.hot)) {
		p := w.hot[rank]
		if sign := w.lastSign[rank]; sign >= w.now {
			w.plan(sign, func() { w.sign(rank, p) })
		}
		if at := w.graph.arrival[rank]; rank != from && at != never {
			w.plan(at, func() { w.learn(rank, p, dead) })
		}
	}
}

func (w *world) learn(rank int, p *process, dead rankset.Set) {
	if w.hot[rank] != p {
		return
	}
	w.step(rank, p, fd.Agreed{Dead: dead})
}

// sign counts the notice of an emitter as a sign of life.
func (w *world) sign(rank int, p *process) {
	emitter := p.det.Emitter()
	if w.hot[rank] == p && emitter >= 0 && w.livingAfter(emitter) == rank {
		w.step(rank, p, fd.Receive{From: emitter, Msg: heartbeat(p.det)})
	}
}

// A graph is that of package flood: each process is joined to those 2^i before and
// after it.
type graph struct {
	steps   []int         // the distances upwards, ascending
	orders  map[int][]int // steps in the order of sending, by the informant's distance; 0: none
	arrival []mono.Time   // of the flood in progress
	via     []int32       // the informant of a process, to which the process does not send
	done    []mono.Time   // the arrival with which a process sent, so that it sends once
	buckets [1024][]int32 // processes by arrival, in steps of τ/8
}

func newGraph(n int) graph {
	g := graph{arrival: make([]mono.Time, n), done: make([]mono.Time, n), via: make([]int32, n)}
	for step := 1; step < n; step *= 2 {
		g.steps = append(g.steps, step, n-step)
	}
	slices.Sort(g.steps)
	g.steps = slices.Compact(g.steps)
	g.orders = map[int][]int{0: flood.Order(n, 0, 0, g.steps)}
	for _, d := range g.steps {
		g.orders[d] = flood.Order(n, 0, n-d, g.steps)
	}
	return g
}

// order returns the distances of a process's neighbours in the order in which it sends. It depends
// on the distance from its informant only.
func (g *graph) order(rank int) []int {
	if via := int(g.via[rank]); via >= 0 {
		n := len(g.arrival)
		if steps, ok := g.orders[(rank-via+n)%n]; ok {
			return steps
		}
	}
	return g.orders[0]
}

// spread computes when each process learns of the deaths that from floods now. Each process sends
// to its neighbours in the order of package flood, except to its informant, one after the other,
// and only while alive. spread returns when the last survivor learns.
//
// This is a shortest-path search. The search takes processes in order of arrival, in buckets of
// τ/8. If the arrival of a process improves within its bucket, the search takes the process again.
func (w *world) spread(from int) mono.Time {
	g := &w.graph
	for i := range g.arrival {
		g.arrival[i] = never
	}
	width := max(w.tau/8, 1)
	bucket := func(t mono.Time) int { return int(t.Sub(w.now)/width) % len(g.buckets) }
	push := func(from, rank int, at mono.Time) {
		if at >= g.arrival[rank] || w.diedAt[rank] <= at {
			return
		}
		g.arrival[rank], g.via[rank] = at, int32(from)
		g.buckets[bucket(at)] = append(g.buckets[bucket(at)], int32(rank))
	}
	push(-1, from, w.now)
	for b, empty := 0, 0; empty < len(g.buckets); b = (b + 1) % len(g.buckets) {
		empty++
		for i := 0; i < len(g.buckets[b]); i++ {
			rank := int(g.buckets[b][i])
			at := g.arrival[rank]
			if bucket(at) != b || g.done[rank] == at {
				continue
			}
			g.done[rank] = at
			empty = 0
			w.relay(rank, at, push)
		}
		g.buckets[b] = g.buckets[b][:0]
	}
	end := w.now
	for rank, at := range g.arrival {
		switch {
		case at != never:
			end = max(end, at)
		case w.lives(rank, w.now):
			w.unheard++
		}
	}
	return end
}

// relay sends to the neighbours of rank, in the order of package flood, and then to its nearest
// live ones on the ring.
func (w *world) relay(rank int, at mono.Time, push func(from, to int, at mono.Time)) {
	next := w.livingFrom(rank, 1)
	for _, step := range w.graph.order(rank) {
		to := rank + step
		if to >= w.n {
			to -= w.n
		}
		if w.declared.Has(to) || int(w.graph.via[rank]) == to {
			continue
		}
		at = w.send(rank, to, next, at, push)
		if at >= w.diedAt[rank] {
			return
		}
	}
	for _, near := range []int{next, w.livingFrom(rank, w.n-1)} {
		if d := (near - rank + w.n) % w.n; d != 0 && !w.isStep(d) && near != int(w.graph.via[rank]) {
			at = w.send(rank, near, next, at, push)
		}
	}
}

func (w *world) isStep(d int) bool {
	return bits.OnesCount(uint(d)) == 1 || bits.OnesCount(uint(w.n-d)) == 1
}

func (w *world) livingFrom(rank, step int) int {
	q := (rank + step) % w.n
	for q != rank && w.declared.Has(q) {
		q = (q + step) % w.n
	}
	return q
}

func (w *world) send(from, to, next int, at mono.Time, push func(from, to int, at mono.Time)) mono.Time {
	at = at.Add(w.delay(w.seed, from, to, uint64(w.floods)))
	w.sent++
	if to == next && w.lives(from, at) {
		w.lastSign[to] = max(w.lastSign[to], at)
	}
	push(from, to, at)
	return at
}
