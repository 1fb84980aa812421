package repair

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A model is a job in virtual time. It has processes that run a World each; communicators whose
// agreements, shrinks and replacements have one outcome at all living members; and memory that
// outlives processes. A source of choices draws the next move.
type model struct {
	setup  setup
	choose func(n int) int // 0 to n-1

	procs   []*proc
	comms   []*comm
	memory  map[int]map[int]*home // by node, then by home
	nodes   int                   // numbers given so far
	dead    rankset.Set           // nodes
	spare   int                   // processes that can still be started
	starts  int                   // of the whole job, over the same memory
	steps   int
	kills   []kill // still to come
	writers []zombie

	excused   bool           // losses went beyond the levels
	nodeDied  bool           // since redundancy was whole
	weak      bool           // some layout had too few nodes for its strength
	restored  map[*comm]part // result of Protect at the first member of an attempt
	promised  Label          // by a Commit that returned OK
	promisers map[*proc]bool // where it returned
	saved     map[int]uint64 // by home
	tracing   bool
	trace     []string
	broken    string         // the first violation
	seen      map[string]int // cases that this schedule has met
}

// setup describes a schedule.
type setup struct {
	n, steps  int // ranks; steps of the program
	spare     int
	perNode   int // ranks of a node
	every     int
	cfg       Config
	copies    int
	progAgree bool // the program makes agreements on its communicator, too
	rollback  int  // the process that once returns Rollback; -1: none
	fatal     int  // the process that has an error at step 2; -1: none
	stop      int  // the process that is asked to stop; -1: none
	wants     bool // members request different intervals
	slow      bool // versions may be complete only after a while
	flip      int  // the process whose replicated data differ once; -1: none
	refill    int  // the step at which more processes become available; 0: none
	plant     plant
	kills     []kill
}

// plant is a duty that the owner neglects.
type plant struct {
	plainAgree        bool // the program's agreements ignore a revocation
	creation          bool // a replacement ends at members that see the revocation
	writesAtOnce      bool // a successor writes before its predecessor was reaped
	byRank            bool // memory is filed by rank
	dropsAtRestore    bool // old copies are deleted before Protect is agreed
	overwrites        bool // a new share of parity replaces the old one at once
	keepsReplacements bool // replacements of an outcome that only the dead had continue
}

// kill is a death: of a process, or of its node.
type kill struct {
	step, victim int // victim: index among the living
	node         bool
}

type proc struct {
	id, node int
	world    *World
	comm     *comm // newest
	base     *comm // of the attempt
	rank     int   // in base
	home     int   // the home that it uses
	trueHome int   // the home that it should use
	joined   bool  // it has replaced another process
	sealed   bool  // a Protect was agreed
	alive    bool
	ended    *Outcome
	noticed  bool // a revocation of base
	canceled bool
	queue    []Action
	wait     *op // its pending call
	last     *op // its most recent call
	body     body
	calls    map[callKey]int // number of its calls of each kind on each communicator
}

type callKey struct {
	comm *comm
	kind string
}

// comm is a communicator.
type comm struct {
	id      int
	members []*proc
	revoked bool
	ops     map[string][]*op // by series: "agree" for all uniform calls
	size    int
}

// op is one collective call.
type op struct {
	kind        string // agree, shrink, replace, gather, tell, program
	comm        *comm
	given       map[*proc]any
	outcome     any
	got         []*proc // have the outcome
	replacement []*proc
}

func newModel(s setup, choose func(int) int, tracing bool) *model {
	m := &model{setup: s, choose: choose, memory: map[int]map[int]*home{}, spare: s.spare, saved: map[int]uint64{}, promisers: map[*proc]bool{}, restored: map[*comm]part{}, tracing: tracing, seen: map[string]int{}}
	m.kills = slices.Clone(s.kills)
	m.nodes = (s.n + s.perNode - 1) / s.perNode
	m.launch()
	return m
}

func (m *model) launch() {
	m.starts++
	c := m.newComm(m.setup.n)
	for r := range m.setup.n {
		node := r / m.setup.perNode
		if m.starts > 1 {
			node = m.nodeOf(r)
		}
		p := m.start(node)
		p.world = New(m.setup.cfg, m.setup.n, r)
		p.comm = c
		c.members = append(c.members, p)
	}
	for _, p := range c.members {
		m.step(p, Begin{})
	}
}

func (m *model) newComm(size int) *comm {
	c := &comm{id: len(m.comms), ops: map[string][]*op{}, size: size}
	m.comms = append(m.comms, c)
	return c
}

func (m *model) start(node int) *proc {
	p := &proc{id: len(m.procs), node: node, alive: true, calls: map[callKey]int{}}
	m.procs = append(m.procs, p)
	return p
}

func (m *model) note(format string, args ...any) {
	if m.tracing {
		m.trace = append(m.trace, fmt.Sprintf("%4d ", m.steps)+fmt.Sprintf(format, args...))
	}
}

func (m *model) violate(format string, args ...any) {
	if m.broken == "" {
		m.broken = fmt.Sprintf(format, args...)
		m.note("VIOLATION %s", m.broken)
	}
}

// step hands an event to a process and queues the resulting actions.
func (m *model) step(p *proc, ev Event) {
	actions := p.world.Step(ev)
	if m.tracing {
		m.note("p%d %T%+v", p.id, ev, ev)
		for _, a := range actions {
			m.note("p%d     -> %s", p.id, describe(a))
		}
	}
	p.queue = append(p.queue, actions...)
}

// run continues until all have ended, and returns the first violation.
func (m *model) run() (broken string) {
	defer func() {
		if r := recover(); r != nil {
			m.violate("panic: %v", r)
			broken = m.broken
		}
	}()
	for m.broken == "" {
		m.strike()
		moves := m.moves()
		if len(moves) == 0 {
			break
		}
		if m.steps++; m.steps > 20000 {
			m.violate("V4: no end")
			break
		}
		moves[m.choose(len(moves))]()
		m.checkValues()
	}
	m.atEnd()
	return m.broken
}

// strike kills the victims of the plan, and makes processes available again.
func (m *model) strike() {
	if m.setup.refill > 0 && m.steps >= m.setup.refill {
		m.setup.refill = 0
		m.spare += 3
	}
	for len(m.kills) > 0 && m.kills[0].step <= m.steps {
		k := m.kills[0]
		m.kills = m.kills[1:]
		living := m.living()
		if len(living) == 0 {
			return
		}
		v := living[k.victim%len(living)]
		if k.node {
			m.killNode(v.node)
		} else {
			m.kill(v)
		}
		if len(m.living()) == 0 && m.starts < 4 && !m.allEnded() {
			m.note("all are dead: the launcher starts again")
			m.launch()
		}
	}
}

func (m *model) allEnded() bool {
	for _, p := range m.procs {
		if p.ended != nil {
			return true
		}
	}
	return false
}

func (m *model) kill(p *proc) {
	m.note("p%d DIES", p.id)
	p.alive = false
	delete(m.promisers, p)
	m.leaveWriter(p)
	deserted := !slices.ContainsFunc(m.living(), func(q *proc) bool { return q.node == p.node })
	if deserted && m.setup.cfg.Shortage == ShortageShrink { // maybe no process will read its memory
		m.losesNode()
	}
}

// losesNode records that a node's memory is lost, and whether that is more than the levels
// allow.
func (m *model) losesNode() {
	m.excused = m.excused || m.nodeDied || m.setup.copies == 0 || m.weak
	m.nodeDied = true
}

func (m *model) killNode(node int) {
	m.note("node %d DIES", node)
	for _, p := range m.procs {
		if p.node == node && p.alive && p.ended == nil {
			m.kill(p)
		}
	}
	m.losesNode()
	m.dead.Add(node)
	delete(m.memory, node)
}

// living returns the processes that have neither died nor ended.
func (m *model) living() []*proc {
	var out []*proc
	for _, p := range m.procs {
		if p.alive && p.ended == nil {
			out = append(out, p)
		}
	}
	return out
}

// moves returns the possible next moves.
func (m *model) moves() []func() {
	var out []func()
	for _, p := range m.living() {
		out = append(out, m.movesOf(p)...)
	}
	for i := range m.writers {
		if len(out) > 0 && m.choose(40) != 0 {
			continue // a thread of the dead may run on for any time
		}
		out = append(out, func() { m.zombieWrites(i) })
	}
	return out
}

func (m *model) movesOf(p *proc) []func() {
	var out []func()
	if p.base != nil && !p.noticed && m.spoilt(p.base) {
		out = append(out, func() {
			p.noticed = true
			m.step(p, Revoked{})
		})
	}
	switch {
	case len(p.queue) > 0:
		out = append(out, func() { m.act(p) })
	case p.wait != nil:
		if m.ready(p, p.wait) {
			out = append(out, func() { m.deliver(p, p.wait) })
		}
	default:
		out = append(out, m.bodyMoves(p)...)
	}
	return out
}

// spoilt reports whether some process may learn that c is revoked: c was revoked, or a member died.
func (m *model) spoilt(c *comm) bool {
	return c.revoked || slices.ContainsFunc(c.members, func(p *proc) bool { return !p.alive })
}

// act executes the first action that a process has queued.
func (m *model) act(p *proc) {
	a := p.queue[0]
	p.queue = p.queue[1:]
	switch a := a.(type) {
	case Run:
		m.begin(p, a)
	case Gather:
		m.call(p, p.base, "gather", m.report(p, a))
	case Restore:
		p.body.startRestore(m, p, a.Plan)
	case Copy:
		m.count(a.Check, "a version that was not complete at first")
		m.count(a.All, "a last version")
		p.body.startCopy(a)
	case Agree:
		m.call(p, p.base, "agree", a.Word)
	case Return:
		m.returned(p, a)
	case Keep:
		m.keep(p, a.Oldest)
	case Drop:
		m.count(true, "a version with unequal replicas")
		m.drop(p, a.Label)
	case Settle:
		m.settle(p, a.Label)
	case Cancel:
		p.canceled = true
	case Revoke:
		p.base.revoked = true
	case Shrink:
		m.call(p, p.comm, "shrink", nil)
	case Replace:
		m.call(p, p.comm, "replace", a)
	case Tell:
		m.call(p, p.comm, "tell", a.Text)
	case End:
		p.ended = &a.Outcome
	}
}

func (m *model) count(is bool, what string) {
	if is {
		m.seen[what]++
	}
}

// series returns the series in which calls of a kind are counted: all uniform calls share one.
func series(kind string) string {
	switch kind {
	case "shrink", "replace":
		return "agree"
	}
	return kind
}

func (m *model) call(p *proc, c *comm, kind string, gives any) {
	key := callKey{c, series(kind)}
	k := p.calls[key]
	p.calls[key]++
	ops := c.ops[series(kind)]
	if len(ops) == k {
		ops = append(ops, &op{kind: kind, comm: c, given: map[*proc]any{}})
		c.ops[series(kind)] = ops
	}
	if o := ops[k]; o.kind != kind && !o.fromLiving() { // the dead had another outcome before this call
		ops[k] = &op{kind: kind, comm: c, given: map[*proc]any{}}
	}
	o := ops[k]
	if o.kind != kind {
		m.violate("V7: p%d calls %s, others call %s, call %d on communicator %d", p.id, kind, o.kind, k, c.id)
	}
	o.given[p] = gives
	p.wait, p.last = o, o
}

// ready reports whether a call can return at p.
func (m *model) ready(p *proc, o *op) bool {
	uniform := series(o.kind) == "agree"
	if o.outcome != nil {
		return true
	}
	aborts := p.noticed && (o.kind == "gather" || o.kind == "program" && !m.setup.plant.plainAgree || o.kind == "replace" && m.setup.plant.creation)
	for _, q := range o.comm.members {
		if _, has := o.given[q]; !has && (q.alive || !uniform && o.kind != "program") {
			return aborts || o.kind == "tell" && !q.alive
		}
	}
	return true
}

// fromLiving reports whether a living member has made the call.
func (o *op) fromLiving() bool {
	return slices.ContainsFunc(o.comm.members, func(q *proc) bool { _, has := o.given[q]; return has && q.alive })
}

// contributed reports whether all members, also the dead, have made the call.
func (o *op) contributed() bool { return len(o.given) == len(o.comm.members) }

// replacement starts a process on the node of its home, if that node lives.
func (m *model) replacement(ask Replace, rank int, c *comm) *proc {
	h, err := readHistory(ask.Handover, ask.Size)
	if err != nil {
		panic(err)
	}
	p := m.start(m.nodeOf(h.homes[rank]))
	p.comm, p.joined = c, true
	p.world, err = Adopt(m.setup.cfg, ask.Size, rank, ask.Handover)
	if err != nil {
		panic(err)
	}
	return p
}

// nodeOf returns the node of a home; a new node if its node has died.
func (m *model) nodeOf(home int) int {
	for _, n := range sortedNodes(m.memory) {
		if m.memory[n][home] != nil {
			return n
		}
	}
	m.nodes++
	return m.nodes - 1
}
