package repair

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// home is memory that outlives its processes. A slot holds a part. Roots refer to slots, and a slot
// to which no root refers is free.
type home struct {
	slots    []part
	roots    map[rootKey]int
	own      uint64
	kept     Label
	unreaped int // dead predecessors that may still have a running thread
}

// rootKey names a part: its version, its rank, and its placement if it is parity.
type rootKey struct {
	label  Label
	rank   int
	parity string // not empty: the rank's share of parity in this placement, instead of its part
}

// part is the data of one rank in a version.
type part struct {
	label Label
	step  int
	value uint64
	nodes []int        // of the world that made it
	of    map[int]part // parity: the parts from which it is computed, by rank
}

// zombie is a thread of a dead process that has not stopped yet.
type zombie struct {
	home *home
	slot int
	part part
}

// bodyPhase is the next move of the program of a process.
type bodyPhase int

const (
	bodyNone    bodyPhase = iota
	bodyProtect           // it calls Protect
	bodyWork              // it computes a step
	bodyCall              // it calls Commit
	bodyWaits             // it waits for the library
	bodyRestore           // the library restores
	bodyCopy              // the library copies
	bodyDone              // it must return
	bodyQuiet             // its goroutines must end
)

// body is the program of a process in one attempt.
type body struct {
	phase   bodyPhase
	size    int
	step    int
	value   uint64
	own     uint64
	fail    bool // an error was seen
	rolled  bool
	flipped bool
	verdict Verdict
	result  Result

	plan  Plan
	steps []redundancy.Step
	bad   bool
	copy  Copy
	todo  []int // keepers to send to
	wrote bool
}

func (m *model) homeOf(node, id int) *home {
	if m.memory[node] == nil {
		m.memory[node] = map[int]*home{}
	}
	h := m.memory[node][id]
	if h == nil {
		h = &home{roots: map[rootKey]int{}}
		m.memory[node][id] = h
	}
	return h
}

func (m *model) mine(p *proc) *home { return m.homeOf(p.node, p.home) }

func sortedNodes(memory map[int]map[int]*home) []int {
	return slices.Sorted(maps.Keys(memory))
}

func (m *model) begin(p *proc, a Run) {
	p.base = p.comm
	p.rank, p.home, p.trueHome = a.Rank, a.Home, a.Home
	if m.setup.plant.byRank {
		p.home = a.Rank
	}
	p.noticed, p.canceled = false, false
	m.count(a.Size > p.body.size && p.body.size > 0, "a world that grows again")
	p.body = body{phase: bodyProtect, size: a.Size, value: 1, rolled: p.body.rolled, flipped: p.body.flipped}
	m.checkRun(p, a)
	m.count(a.Size < m.setup.n, "a smaller world")
	m.count(a.Attempt > 1 && a.Rank == 0, "a repair")
	m.count(m.starts > 1, "a restart of all")
	m.mine(p)
}

// bodyMoves returns the possible next moves of the program, or of the library in its place.
func (m *model) bodyMoves(p *proc) []func() {
	b := &p.body
	switch b.phase {
	case bodyProtect:
		return []func(){func() { b.phase = bodyWaits; m.step(p, Protect{}) }}
	case bodyWork:
		return []func(){func() { m.work(p) }}
	case bodyCall:
		return []func(){func() { m.callCommit(p) }}
	case bodyRestore:
		return m.restoreMoves(p)
	case bodyCopy:
		return m.copyMoves(p)
	case bodyDone:
		return []func(){func() { b.phase = bodyQuiet; m.step(p, Returned{b.result}) }}
	case bodyQuiet:
		return []func(){func() { b.phase = bodyNone; m.step(p, m.quietOf(p)) }}
	}
	return nil
}

func (m *model) quietOf(p *proc) Quiet {
	if p.body.result == Fatal {
		return Quiet{Result: Fatal, Text: "boom"}
	}
	return Quiet{Result: p.body.result}
}

func (m *model) callCommit(p *proc) {
	if m.choose(2) == 0 && p.world.Skip() {
		m.note("p%d skips a point", p.id)
		m.count(true, "a point that is not due")
		p.body.phase = bodyWork
		return
	}
	p.body.phase = bodyWaits
	m.step(p, m.commitOf(p))
}

func (m *model) commitOf(p *proc) Commit {
	c := Commit{Stop: m.setup.stop == p.id && p.body.step >= 2, Want: m.setup.every}
	if m.setup.wants {
		c.Want = 1 + p.id%3
	}
	return c
}

// work computes one step, or ends the body.
func (m *model) work(p *proc) {
	b := &p.body
	if p.noticed && m.choose(2) == 0 {
		b.fail = true
	}
	switch {
	case b.fail || p.canceled:
		b.phase, b.result = bodyDone, Again
	case b.step == m.setup.steps:
		b.phase, b.result = bodyDone, Finished
	case m.setup.fatal == p.id && b.step == 2:
		b.phase, b.result = bodyDone, Fatal
	case m.setup.rollback == p.id && b.step == 2 && !b.rolled:
		b.rolled = true
		b.phase, b.result = bodyDone, Again
	default:
		m.compute(p)
	}
}

// compute makes the value of the next step. The value depends on the attempt, as in a program that
// does not compute the same twice, so that a mixture of versions is seen.
func (m *model) compute(p *proc) {
	b := &p.body
	b.step++
	b.value = b.value*31 + uint64(p.base.id)*7 + 1
	b.own++
	m.mine(p).own = max(m.mine(p).own, b.own)
	m.saved[p.trueHome] = max(m.saved[p.trueHome], b.own)
	b.phase = bodyCall
	if m.setup.progAgree && b.step%2 == 1 {
		b.phase = bodyWaits
		m.call(p, p.base, "program", nil)
	}
}

// returned handles the library's answer to Protect or Commit.
func (m *model) returned(p *proc, r Return) {
	b := &p.body
	b.phase, b.verdict = bodyWork, r.Verdict
	m.count(r.Files == FilesPublish, "files that are published")
	m.count(r.Files == FilesAbandon, "files that are abandoned")
	m.checkReturn(p, r)
	switch r.Verdict {
	case OK:
		if r.Label != (Label{}) {
			m.promise(p, r.Label)
		}
	case OverAgain, OverStop, BadReplica: // after BadReplica the program chooses to roll back
		b.fail = true
	default:
		b.phase, b.result = bodyDone, Fatal
	}
}

// report lists the data that a process can read: in its home, and in those homes of its node that
// no process uses.
func (m *model) report(p *proc, g Gather) Report {
	r := Report{Node: p.node, Home: p.home, Epoch: g.Epoch, Committed: g.Committed, Known: g.Known}
	used := rankset.Set{}
	for _, q := range p.base.members {
		if q != p {
			used.Add(m.homeUsed(q))
		}
	}
	held := map[string]*Held{}
	for id := range rankset.Range(0, 64).All() {
		h := m.memory[p.node][id]
		if h == nil || used.Has(id) {
			continue
		}
		if !g.Known && r.Committed.Less(h.kept) {
			r.Committed = h.kept
		}
		for key, slot := range h.roots {
			at := fmt.Sprint(key.label, h.slots[slot].nodes)
			if held[at] == nil {
				held[at] = &Held{Label: key.label, Nodes: h.slots[slot].nodes}
			}
			switch {
			case key.parity == "":
				held[at].Data.Add(key.rank)
			case m.wholeShare(h.slots[slot], key.rank):
				held[at].Parity.Add(key.rank)
			}
		}
		if h.own > 0 {
			r.Own = append(r.Own, Own{Home: id, Count: h.own})
		}
	}
	for _, at := range slices.Sorted(maps.Keys(held)) {
		r.Held = append(r.Held, *held[at])
	}
	return r
}

// find returns a part that a process can read.
func (m *model) find(p *proc, label Label, rank int) (part, bool) {
	for id := range rankset.Range(0, 64).All() {
		if h := m.memory[p.node][id]; h != nil {
			if slot, has := h.roots[rootKey{label, rank, ""}]; has {
				return h.slots[slot], true
			}
		}
	}
	return part{}, false
}

func (b *body) startRestore(m *model, p *proc, plan Plan) {
	b.phase, b.plan, b.bad = bodyRestore, plan, false
	m.weak = m.weak || !plan.Layout.Weak().IsEmpty()
	m.count(plan.Source == FromMemory, "a version restored")
	for _, s := range plan.Steps {
		_, is := s.(redundancy.Rebuild)
		m.count(is, "a part out of parity")
	}
	m.count(plan.Source == FromMemory && len(plan.Steps) > 0, "a part from a keeper")
	m.count(plan.Source == FromMemory && plan.Size > b.size, "parts of a larger world")
	m.count(plan.Source == FromMemory && plan.Size < b.size, "parts of a smaller world")
	b.steps = append(slices.Clone(plan.Steps), plan.Copies...)
	if m.setup.plant.dropsAtRestore {
		for key := range m.mine(p).roots {
			if key.rank != p.rank {
				delete(m.mine(p).roots, key)
			}
		}
	}
}

// restoreMoves does the next step of a plan in which the process receives data.
func (m *model) restoreMoves(p *proc) []func() {
	b := &p.body
	for len(b.steps) > 0 && gets(b.steps[0]) != p.rank {
		b.steps = b.steps[1:]
	}
	if len(b.steps) == 0 {
		return []func(){func() { m.endRestore(p) }}
	}
	key, got, alive, has := m.fetch(p, b.steps[0])
	switch {
	case !alive || !has && p.noticed:
		return []func(){func() { b.bad, b.steps = true, nil }}
	case !has || !m.writable(m.mine(p)):
		return nil // the sender must get it first
	}
	return []func(){func() {
		b.steps = b.steps[1:]
		m.write(m.mine(p), key, got)
		if m.setup.plant.overwrites && key.parity != "" {
			m.settle(p, key.label)
		}
	}}
}

func (m *model) endRestore(p *proc) {
	if !p.body.bad {
		m.takeRestored(p)
	}
	p.body.phase = bodyWaits
	m.step(p, Restored{OK: !p.body.bad, Same: true, Digest: 1})
}

// takeRestored returns the program's data to the program. After a shrink it takes any old part: all
// parts of a version have one value.
func (m *model) takeRestored(p *proc) {
	b := &p.body
	b.own = m.mine(p).own
	if b.plan.Source != FromMemory {
		return
	}
	rank := p.rank % b.plan.Size
	from := p.base.members[b.plan.Servers[rank]]
	got, has := m.find(from, b.plan.Label, rank)
	if !has || !from.alive {
		b.bad = true
		return
	}
	b.step, b.value = got.step, got.value
	first, has := m.restored[p.base]
	if has && (first.step != b.step || first.value != b.value) {
		m.violate("V3: p%d gets back step %d of %v, another member step %d", p.id, b.step, b.plan.Label, first.step)
	}
	m.restored[p.base] = got
}

// homeUsed returns the home that a member of the newest communicator uses.
func (m *model) homeUsed(q *proc) int {
	if m.setup.plant.byRank {
		return q.world.rank
	}
	return q.world.hist.homes[q.world.rank]
}

func (b *body) startCopy(a Copy) {
	b.phase, b.copy, b.wrote, b.bad, b.todo = bodyCopy, a, a.Check, false, nil
}

// copyMoves stores this process's part, sends it to its keepers, and waits for the parts that
// this process keeps, or for their owners' deaths.
func (m *model) copyMoves(p *proc) []func() {
	b := &p.body
	layout := p.world.layout
	switch {
	case !b.wrote:
		if !m.writable(m.mine(p)) {
			return nil
		}
		return []func(){func() {
			b.wrote = true
			b.todo = sendsTo(layout, p.rank)
			m.write(m.mine(p), rootKey{b.copy.Label, p.rank, ""}, m.partOf(p))
		}}
	case len(b.todo) > 0:
		if k := p.base.members[b.todo[0]]; k.alive && !m.writable(m.mine(k)) {
			return nil
		}
		return []func(){func() {
			k := p.base.members[b.todo[0]]
			b.todo = b.todo[1:]
			if !k.alive {
				b.bad = true
				return
			}
			m.receive(layout, k, b.copy.Label, p.rank, m.partOf(p))
		}}
	}
	for owner := range keptBy(layout, p.rank).All() {
		if !m.received(layout, p, b.copy.Label, owner) {
			if p.base.members[owner].alive && !p.noticed {
				return nil
			}
			b.bad = true
		}
	}
	return []func(){func() { b.phase = bodyWaits; m.step(p, m.copiedOf(p)) }}
}

// copiedOf returns the result of a copy.
func (m *model) copiedOf(p *proc) Copied {
	b := &p.body
	late := m.setup.slow && !b.copy.Check && m.choose(3) == 0
	c := Copied{Complete: !b.bad && !late, Same: true, Digest: 1, Offer: m.spare > 0, Files: m.filesOf(p)}
	if m.setup.flip == p.id && !b.flipped && b.step >= 2 {
		b.flipped, c.Digest = true, 2
	}
	return c
}

// filesOf returns a state of files that is allowed now, and that changes from step to step.
func (m *model) filesOf(p *proc) Files {
	sayable := []Files{FilesDone, FilesWanted}
	switch {
	case p.body.copy.All:
		sayable = []Files{FilesDone, FilesFailed}
	case p.world.filesOpen:
		sayable = []Files{FilesDone, FilesDone, FilesWriting, FilesFailed}
	}
	return sayable[(m.steps/3+p.id)%len(sayable)]
}

func (m *model) partOf(p *proc) part {
	return part{label: p.body.copy.Label, step: p.body.step, value: p.body.value, nodes: placement(p)}
}

// writable reports whether no thread of a dead predecessor writes to h any more.
func (m *model) writable(h *home) bool { return h.unreaped == 0 || m.setup.plant.writesAtOnce }

// write puts a part into a free slot, then sets the root.
func (m *model) write(h *home, key rootKey, what part) {
	slot := h.free()
	h.slots[slot] = what
	h.roots[key] = slot
}

func (h *home) free() int {
	for i := range h.slots {
		used := false
		for _, slot := range h.roots {
			used = used || slot == i
		}
		if !used {
			return i
		}
	}
	h.slots = append(h.slots, part{})
	return len(h.slots) - 1
}

// leaveWriter lets a thread of a process that dies while it copies do one more store, into
// the slot that it had chosen.
func (m *model) leaveWriter(p *proc) {
	if p.body.phase != bodyCopy || p.body.wrote {
		return
	}
	h := m.mine(p)
	h.unreaped++
	m.writers = append(m.writers, zombie{home: h, slot: h.free(), part: m.partOf(p)})
}

func (m *model) zombieWrites(i int) {
	z := m.writers[i]
	m.writers = slices.Delete(m.writers, i, i+1)
	z.home.slots[z.slot] = z.part
	z.home.unreaped--
	m.note("a thread of a dead process writes %+v", z.part)
}

func (m *model) keep(p *proc, oldest Label) {
	h := m.mine(p)
	h.kept = oldest
	for key := range h.roots {
		if key.label.Less(oldest) {
			delete(h.roots, key)
		}
	}
}

// settle drops the parity of other placements.
func (m *model) settle(p *proc, l Label) {
	h := m.mine(p)
	for key := range h.roots {
		if key.label == l && key.parity != "" && key.parity != fmt.Sprint(placement(p)) {
			delete(h.roots, key)
		}
	}
}

func (m *model) drop(p *proc, l Label) {
	h := m.mine(p)
	for key := range h.roots {
		if key.label == l {
			delete(h.roots, key)
		}
	}
}
