package spec

import (
	"flag"
	"math/bits"
	"testing"
)

var deep = flag.Bool("deep", false, "explore the larger models too: minutes")

// This file is Era.tla, operator by operator, so that its state space can be explored
// without a model checker. Sets of members are bit masks.

const (
	stNew = iota
	stGathering
	stWaiting
	stDecided
)

const (
	kindUp = iota
	kindDown
	kindRequest
)

type value struct{ from, dead uint8 }

type eraMsg struct {
	kind uint8
	val  value
}

type eraLocal struct {
	st                 uint8
	val                value
	con, req, ask, clo uint8
	par                int8 // none is -1
}

const membersMax = 5

type channel struct {
	len uint8
	at  [6]eraMsg
}

type eraState struct {
	l       [membersMax]eraLocal
	chans   [membersMax][membersMax]channel
	crashed uint8
}

type eraModel struct {
	n, f int
	flaw string
}

func (m eraModel) all() uint8 { return 1<<m.n - 1 }

func bit(p int) uint8 { return 1 << p }

func has(set uint8, p int) bool { return set&bit(p) != 0 }

func (m eraModel) ancestor(p int, clo uint8) int {
	if p == 0 {
		return -1
	}
	if up := (p - 1) / 2; !has(clo, up) {
		return up
	}
	return m.ancestor((p-1)/2, clo)
}

func (m eraModel) root(clo uint8) int { return bits.TrailingZeros8(m.all() &^ clo) }

func (m eraModel) parent(p int, clo uint8) int {
	if a := m.ancestor(p, clo); a >= 0 {
		return a
	}
	if m.root(clo) == p {
		return -1
	}
	return m.root(clo)
}

func (m eraModel) children(p int, clo uint8) (set uint8) {
	for q := range m.n {
		if q != p && !has(clo, q) && m.parent(q, clo) == p {
			set |= bit(q)
		}
	}
	return set
}

// A step is a local state with what is to be sent.
type eraStep struct {
	eraLocal
	p   int
	to  uint8
	msg [membersMax]eraMsg
}

func (s *eraStep) put(to int, msg eraMsg) {
	s.to |= bit(to)
	s.msg[to] = msg
}

func (m eraModel) sendUp(s *eraStep, to int) {
	s.val.dead |= s.clo
	s.st, s.par = stWaiting, int8(to)
	s.put(to, eraMsg{kindUp, s.val})
}

func (m eraModel) decide(s *eraStep, v value, teller int) {
	to := (s.req | s.con | m.children(s.p, s.clo)) &^ s.clo
	if teller >= 0 {
		to &^= bit(teller)
	}
	s.st, s.val, s.par = stDecided, v, -1
	s.con, s.req, s.ask = 0, 0, 0
	for q := range m.n {
		if has(to, q) {
			s.put(q, eraMsg{kindDown, v})
		}
	}
}

func (m eraModel) evaluate(s *eraStep) {
	if s.st != stGathering || m.children(s.p, s.clo)&^s.con != 0 {
		return
	}
	if up := m.parent(s.p, s.clo); up >= 0 {
		m.sendUp(s, up)
		return
	}
	m.decide(s, value{s.val.from, s.val.dead | s.clo}, -1)
}

func (m eraModel) ask(s *eraStep) {
	whom := m.children(s.p, s.clo) &^ s.con &^ s.ask
	s.ask |= whom
	for q := range m.n {
		if has(whom, q) {
			s.put(q, eraMsg{kind: kindRequest})
		}
	}
}

func (m eraModel) receive(s *eraStep, q int, msg eraMsg) {
	if has(s.clo, q) && m.flaw != "A6" {
		return
	}
	switch msg.kind {
	case kindUp:
		if s.st == stDecided {
			s.put(q, eraMsg{kindDown, s.val})
			return
		}
		s.val.from |= msg.val.from
		s.val.dead |= msg.val.dead
		s.con |= bit(q)
		m.evaluate(s)
	case kindRequest:
		if s.st == stDecided {
			s.put(q, eraMsg{kindDown, s.val})
			return
		}
		if m.flaw != "A10" || s.st != stWaiting {
			s.req |= bit(q)
		}
		if m.flaw == "A1" && s.st == stWaiting {
			s.put(q, eraMsg{kindUp, s.val})
		}
	case kindDown:
		if s.st != stDecided && s.st != stNew && (int(s.par) == q || has(s.ask, q) || m.flaw == "A6") {
			m.decide(s, msg.val, q)
		}
	}
}

func (m eraModel) shut(s *eraStep, x int) {
	s.clo |= bit(x)
	if s.st == stDecided || s.st == stNew {
		return
	}
	lost := s.st == stWaiting && int(s.par) == x
	up := m.parent(s.p, s.clo)
	heir := lost && up < 0
	switch {
	case heir:
		s.st, s.par = stGathering, -1
		if m.flaw == "A8" {
			s.con = 0
		}
	case lost:
		m.sendUp(s, up)
	}
	if s.st == stGathering && m.root(s.clo) == s.p && (heir || m.flaw != "A9") {
		m.ask(s)
	}
	m.evaluate(s)
}

// next yields every successor of s but Done.
func (m eraModel) next(s eraState, yield func(eraState)) {
	act := func(p int, from eraState, do func(*eraStep)) {
		step := eraStep{eraLocal: from.l[p], p: p}
		do(&step)
		from.l[p] = step.eraLocal
		for q := range m.n {
			if has(step.to, q) {
				c := &from.chans[p][q]
				c.at[c.len] = step.msg[q]
				c.len++
			}
		}
		yield(from)
	}
	for p := range m.n {
		if has(s.crashed, p) {
			for q := range m.n {
				if c := s.chans[p][q]; c.len > 0 { // Lose
					t := s
					t.chans[p][q].len--
					t.chans[p][q].at[c.len-1] = eraMsg{}
					yield(t)
				}
			}
			continue
		}
		if s.l[p].st == stNew {
			act(p, s, func(step *eraStep) {
				step.st, step.val.from = stGathering, step.val.from|bit(p)
				m.evaluate(step)
			})
		}
		if bits.OnesCount8(s.crashed) < m.f {
			t := s
			t.crashed |= bit(p)
			yield(t)
		}
		for q := range m.n {
			if has(s.crashed, q) && !has(s.l[p].clo, q) {
				act(p, s, func(step *eraStep) { m.shut(step, q) })
			}
			if c := s.chans[q][p]; c.len > 0 {
				t := s
				copy(t.chans[q][p].at[:], c.at[1:])
				t.chans[q][p].at[c.len-1] = eraMsg{}
				t.chans[q][p].len--
				act(p, t, func(step *eraStep) { m.receive(step, q, c.at[0]) })
			}
		}
	}
}

// broken returns the name of an invariant of Era.tla that s breaks.
func (m eraModel) broken(s *eraState, deadlock bool) string {
	live := m.all() &^ s.crashed
	var one *value
	undecided := false
	for p := range m.n {
		if !has(live, p) {
			continue
		}
		l := &s.l[p]
		switch l.st {
		case stWaiting:
			if l.par < 0 || has(l.clo, int(l.par)) {
				return "Promise"
			}
		case stDecided:
			if one != nil && *one != l.val {
				return "Agreement"
			}
			one = &l.val
			if live&^l.val.from != 0 {
				return "Participation"
			}
			if l.val.dead&^s.crashed != 0 {
				return "NoFalseDeath"
			}
		}
		undecided = undecided || l.st != stDecided
	}
	if deadlock && undecided {
		return "Termination"
	}
	return ""
}

// explore visits every state, and returns how many there are and the first invariant
// found broken. A state without successors is a stall unless all have decided: no
// other cycle exists than Done, since every action uses up a message, a member to
// enter, a crash or a notice, and only finitely many messages can be caused.
func (m eraModel) explore() (states int, broken string) {
	var init eraState
	for p := range init.l {
		init.l[p].par = -1
	}
	seen := map[eraState]struct{}{init: {}}
	for stack := []eraState{init}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		successors := 0
		m.next(s, func(t eraState) {
			successors++
			if _, old := seen[t]; !old {
				seen[t] = struct{}{}
				stack = append(stack, t)
			}
		})
		if b := m.broken(&s, successors == 0); b != "" {
			return len(seen), b
		}
	}
	return len(seen), ""
}

func TestEra(t *testing.T) {
	sizes := [][2]int{{1, 0}, {2, 1}, {3, 2}, {4, 1}}
	if *deep {
		sizes = append(sizes, [2]int{4, 2}, [2]int{4, 3}, [2]int{5, 1})
	}
	for _, c := range sizes {
		states, broken := eraModel{n: c[0], f: c[1], flaw: "none"}.explore()
		t.Logf("N = %d, F = %d: %d states", c[0], c[1], states)
		if broken != "" {
			t.Errorf("N = %d, F = %d: %s is broken", c[0], c[1], broken)
		}
	}
}

// TestEraFlaws leaves out one repair each: the exploration must find it, with the
// invariant that the repair is for.
func TestEraFlaws(t *testing.T) {
	for _, c := range []struct {
		flaw string
		n, f int
		want string
	}{
		{"A1", 3, 2, "Agreement"},
		{"A6", 3, 2, "Agreement"},
		{"A8", 4, 2, "Termination"},
		{"A10", 4, 2, "Termination"},
	} {
		if states, broken := (eraModel{n: c.n, f: c.f, flaw: c.flaw}).explore(); broken != c.want {
			t.Errorf("without %s, N = %d, F = %d: %q is broken after %d states, want %q", c.flaw, c.n, c.f, broken, states, c.want)
		}
	}
}
