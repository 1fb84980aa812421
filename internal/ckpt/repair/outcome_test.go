package repair

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// deliver delivers the outcome of a call to a process.
func (m *model) deliver(p *proc, o *op) {
	p.wait = nil
	switch o.kind {
	case "gather":
		m.deliverGather(p, o)
		return
	case "program":
		p.body.phase = bodyWork
		if p.noticed && (!o.everyLiving() || m.choose(2) == 0) {
			p.body.fail = true
		}
		return
	case "tell":
		m.step(p, m.toldOutcome(o))
		return
	case "replace":
		if m.setup.plant.creation && p.noticed && m.choose(2) == 0 {
			m.step(p, Unfilled{})
			return
		}
	}
	m.deliverUniform(p, o)
}

func (o *op) everyLiving() bool {
	for _, q := range o.comm.members {
		if _, has := o.given[q]; !has && q.alive {
			return false
		}
	}
	return true
}

func (m *model) deliverGather(p *proc, o *op) {
	if !o.contributed() || p.noticed && m.choose(2) == 0 {
		m.step(p, Gathered{})
		return
	}
	var reports []Report
	for _, q := range o.comm.members {
		reports = append(reports, o.given[q].(Report))
	}
	m.step(p, Gathered{Reports: reports})
}

func (m *model) toldOutcome(o *op) Event {
	if !o.contributed() {
		return Told{Rank: -1}
	}
	for r, q := range o.comm.members {
		if text := o.given[q].(string); text != "" {
			return Told{Rank: r, Text: text}
		}
	}
	return Told{Rank: -1}
}

// deliverUniform delivers the outcome that all living members get. If all processes that have an
// outcome are dead, the others may come to another one.
func (m *model) deliverUniform(p *proc, o *op) {
	if o.outcome != nil && !slices.ContainsFunc(o.got, func(q *proc) bool { return q.alive }) && m.choose(2) == 0 {
		m.forget(o)
	}
	if o.outcome == nil {
		if !o.everyLiving() {
			p.wait = o
			return
		}
		o.outcome = m.decide(o)
	}
	o.got = append(o.got, p)
	switch out := o.outcome.(type) {
	case Decided:
		m.step(p, out)
	case shrunkTo:
		p.comm = out.comm
		m.step(p, out.event)
	case filledTo:
		p.comm = out.comm
		m.step(p, Filled{})
	case Unfilled:
		m.step(p, out)
	case Scarce:
		m.step(p, out)
	}
}

func (m *model) forget(o *op) {
	o.outcome, o.got = nil, nil
	for _, q := range o.replacement {
		if q.alive && !m.setup.plant.keepsReplacements {
			m.note("p%d ends: nobody living wants it", q.id)
			q.alive = false
			m.spare++
		}
	}
	o.replacement = nil
}

type shrunkTo struct {
	comm  *comm
	event Shrunk
}

type filledTo struct{ comm *comm }

// decide computes the outcome of an agreement: the death of a member that has contributed
// may be part of it or not.
func (m *model) decide(o *op) any {
	var dead rankset.Set
	word := ^uint64(0)
	for r, q := range o.comm.members {
		gives, has := o.given[q]
		if !q.alive && (!has || m.choose(2) == 0) {
			dead.Add(r)
			if !has || m.choose(2) == 0 {
				continue
			}
		}
		if w, is := gives.(uint64); is {
			word &= w
		}
	}
	switch o.kind {
	case "agree":
		return Decided{Word: word, Dead: dead}
	case "shrink":
		left := rankset.Range(0, len(o.comm.members))
		left.Subtract(dead)
		c := m.newComm(left.Len())
		for r := range left.All() {
			c.members = append(c.members, o.comm.members[r])
		}
		return shrunkTo{c, Shrunk{left}}
	}
	return m.decideReplace(o, dead)
}

func (m *model) decideReplace(o *op, dead rankset.Set) any {
	var ask Replace
	for _, q := range o.comm.members {
		if q.alive {
			ask = o.given[q].(Replace)
		}
	}
	switch {
	case !dead.IsEmpty():
		return Unfilled{}
	case m.spare < len(ask.Ranks):
		return Scarce{Granted: m.spare}
	}
	m.spare -= len(ask.Ranks)
	c := m.newComm(ask.Size)
	old := o.comm.members
	for r := range ask.Size {
		if !slices.Contains(ask.Ranks, r) {
			c.members = append(c.members, old[0])
			old = old[1:]
			continue
		}
		p := m.replacement(ask, r, c)
		o.replacement = append(o.replacement, p)
		c.members = append(c.members, p)
	}
	for _, p := range o.replacement {
		m.step(p, Begin{})
	}
	return filledTo{c}
}
