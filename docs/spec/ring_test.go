package spec

import (
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// This file is Ring.tla, operator by operator.

// A ringMsg is a message: NOTICE, or NEWOBSERVER with hello, and a set of processes.
type ringMsg struct {
	hello         bool
	from, to, set uint8
}

func (m ringMsg) less(o ringMsg) int {
	key := func(m ringMsg) int {
		k := int(m.from)<<16 | int(m.to)<<8 | int(m.set)
		if m.hello {
			k |= 1 << 24
		}
		return k
	}
	return key(m) - key(o)
}

const (
	procsMax = 5
	netMax   = 40
)

// A ringState is comparable: the net is sorted, and the rest of the array zero.
type ringState struct {
	dead, emitter, observer, claim [procsMax]uint8
	crashed, len                   uint8
	net                            [netMax]ringMsg
}

func (s *ringState) messages() []ringMsg { return s.net[:s.len] }

func (s *ringState) has(m ringMsg) bool {
	_, found := slices.BinarySearchFunc(s.messages(), m, ringMsg.less)
	return found
}

func (s *ringState) add(m ringMsg) {
	i, found := slices.BinarySearchFunc(s.messages(), m, ringMsg.less)
	if !found {
		copy(s.net[i+1:], s.net[i:s.len])
		s.net[i] = m
		s.len++
	}
}

func (s *ringState) remove(m ringMsg) {
	i, _ := slices.BinarySearchFunc(s.messages(), m, ringMsg.less)
	copy(s.net[i:], s.net[i+1:s.len])
	s.len--
	s.net[s.len] = ringMsg{}
}

type ringModel struct {
	n, f      int
	flaws     string
	firstHand bool // any process may learn of a death first-hand: Exit(p, x)
}

func (m ringModel) without(repair string) bool { return strings.Contains(m.flaws, repair+" ") }

func (m ringModel) ahead(p, q int) int { return (q + m.n - p) % m.n }

func (m ringModel) walk(p, step int, gone uint8) int {
	q := (p + step) % m.n
	for q != p && has(gone, q) {
		q = (q + step) % m.n
	}
	return q
}

func (m ringModel) before(p int, gone uint8) int { return m.walk(p, m.n-1, gone) }
func (m ringModel) after(p int, gone uint8) int  { return m.walk(p, 1, gone) }

func (m ringModel) targets(p int, gone uint8) uint8 {
	set := bit(m.before(p, gone)) | bit(m.after(p, gone))
	for i := 1; i < m.n; i *= 2 {
		set |= bit((p+i)%m.n) | bit((p+m.n-i)%m.n)
	}
	return set &^ (gone | bit(p))
}

func (m ringModel) notices(s *ringState, p int, to, set uint8) {
	for q := range m.n {
		if has(to, q) {
			s.add(ringMsg{from: uint8(p), to: uint8(q), set: set})
		}
	}
}

func (m ringModel) learn(s *ringState, p int, more uint8, teller int) {
	gone := s.dead[p] | more
	s.dead[p] = gone
	if has(gone, int(s.claim[p])) {
		s.claim[p] = uint8(p)
	}
	near, claim := m.after(p, gone), int(s.claim[p])
	if !m.without("B12") {
		s.observer[p] = uint8(near)
		if claim != p && m.ahead(p, claim) > m.ahead(p, near) {
			s.observer[p] = uint8(claim)
		}
	}
	m.notices(s, p, m.targets(p, gone)&^bit(teller), gone)
	if m.without("B5") && teller != p {
		return
	}
	if em := m.before(p, gone); em != int(s.emitter[p]) {
		s.emitter[p] = uint8(em)
		if em != p {
			s.add(ringMsg{hello: true, from: uint8(p), to: uint8(em), set: gone})
		}
	}
}

func (m ringModel) receive(s *ringState, msg ringMsg) {
	p, from := int(msg.to), int(msg.from)
	s.remove(msg)
	if has(s.dead[p], from) {
		return
	}
	if msg.hello {
		if m.without("B2") || m.ahead(p, from) >= m.ahead(p, int(s.observer[p])) {
			s.observer[p], s.claim[p] = msg.from, msg.from
		}
		if s.dead[p] != msg.set {
			m.notices(s, p, bit(from), s.dead[p])
		}
		return
	}
	all := s.dead[p] | msg.set
	if msg.set&^s.dead[p] != 0 {
		m.learn(s, p, msg.set, from)
	}
	if all != msg.set && !has(all, from) {
		m.notices(s, p, bit(from), all)
	}
}

// beat says whether Beat(p) is enabled.
func (m ringModel) beat(s *ringState, p int) bool {
	o := int(s.observer[p])
	return !m.without("B3") && !has(s.crashed, p) && o != p && !has(s.crashed, o) && !has(s.dead[o], p) &&
		s.dead[p] != s.dead[o] && !s.has(ringMsg{from: uint8(o), to: uint8(p), set: s.dead[o]})
}

func (m ringModel) next(s ringState, yield func(ringState)) {
	for p := range m.n {
		if has(s.crashed, p) {
			continue
		}
		if bits.OnesCount8(s.crashed) < m.f {
			t := s
			t.crashed |= bit(p)
			yield(t)
		}
		for x := range m.n {
			detects := int(s.emitter[p]) == x
			if has(s.crashed, x) && !has(s.dead[p], x) && (detects || m.firstHand) {
				t := s
				m.learn(&t, p, bit(x), p)
				yield(t)
			}
		}
		if m.beat(&s, p) {
			t, o := s, int(s.observer[p])
			m.notices(&t, o, bit(p), s.dead[o])
			yield(t)
		}
	}
	for _, msg := range s.messages() {
		if !has(s.crashed, int(msg.to)) {
			t := s
			m.receive(&t, msg)
			yield(t)
		}
		if has(s.crashed, int(msg.to)) || has(s.crashed, int(msg.from)) {
			t := s
			t.remove(msg)
			yield(t)
		}
	}
}

func (m ringModel) broken(s *ringState) string {
	rest := s.len == 0
	for p := range m.n {
		if has(s.crashed, p) {
			continue
		}
		if s.dead[p]&^s.crashed != 0 {
			return "Accuracy"
		}
		if int(s.emitter[p]) != m.before(p, s.dead[p]) {
			return "Observes"
		}
		rest = rest && !has(s.crashed, int(s.emitter[p])) && !m.beat(s, p)
	}
	for p := range m.n {
		if rest && !has(s.crashed, p) && (s.dead[p] != s.crashed || int(s.emitter[p]) != m.before(p, s.crashed) || int(s.observer[p]) != m.after(p, s.crashed)) {
			return "Stable"
		}
	}
	return ""
}

func (m ringModel) explore() (states int, broken string) {
	var init ringState
	for p := range m.n {
		init.emitter[p], init.observer[p], init.claim[p] = uint8(m.before(p, 0)), uint8(m.after(p, 0)), uint8(p)
	}
	seen := map[ringState]struct{}{init: {}}
	for stack := []ringState{init}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if b := m.broken(&s); b != "" {
			return len(seen), b
		}
		m.next(s, func(t ringState) {
			if _, old := seen[t]; !old {
				seen[t] = struct{}{}
				stack = append(stack, t)
			}
		})
	}
	return len(seen), ""
}

func TestRing(t *testing.T) {
	sizes := [][2]int{{1, 0}, {2, 1}, {3, 2}, {4, 1}}
	if *deep {
		sizes = append(sizes, [2]int{5, 1}, [2]int{4, 2})
	}
	for _, c := range sizes {
		for _, exit := range []bool{false, true} {
			states, broken := ringModel{n: c[0], f: c[1], firstHand: exit}.explore()
			t.Logf("N = %d, F = %d, Exit %v: %d states", c[0], c[1], exit, states)
			if broken != "" {
				t.Errorf("N = %d, F = %d, Exit %v: %s is broken", c[0], c[1], exit, broken)
			}
		}
	}
}

// TestRingFlaws leaves out repairs: the exploration must find it.
func TestRingFlaws(t *testing.T) {
	for _, c := range []struct {
		flaws string
		n, f  int
		exit  bool
		want  string
	}{
		{"B5 ", 4, 2, false, "Observes"},
		{"B5 ", 3, 1, true, "Observes"},
		{"B2 B12 ", 4, 2, false, "Stable"},
		{"B12 ", 3, 2, true, "Stable"},
	} {
		states, broken := ringModel{n: c.n, f: c.f, flaws: c.flaws, firstHand: c.exit}.explore()
		t.Logf("without %s: %d states", c.flaws, states)
		if broken != c.want {
			t.Errorf("without %s, N = %d, F = %d: %q is broken after %d states, want %q", c.flaws, c.n, c.f, broken, states, c.want)
		}
	}
}
