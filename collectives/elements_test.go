package collectives_test

import (
	"math/bits"

	"github.com/goulfm/goulfm/collectives"
)

// A series has the inputs of all ranks: the i-th element of rank r is the element at r*apart+i. All
// ranks, lengths and blocks are therefore slices of the series, inputs and expected results alike,
// and must not be written.
type series[T any] struct {
	conv func(h uint64) T // from random bits
	all  []T
}

const apart = 10_007 // two ranks differ at most places

// of is the input of a rank.
func (s *series[T]) of(rank, length int) []T {
	return s.all[rank*apart : rank*apart+length : rank*apart+length]
}

// extend has a series reach for n ranks that contribute so much.
func (s *series[T]) extend(n, length int) {
	for i := len(s.all); i < n*apart+length; i++ {
		s.all = append(s.all, s.conv(mixed(uint64(i))))
	}
}

// mixed has 64 pseudo-random bits: SplitMix64, Steele et al., OOPSLA 2014.
func mixed(i uint64) uint64 {
	i *= 0x9E3779B97F4A7C15
	i = (i ^ i>>30) * 0xBF58476D1CE4E5B9
	i = (i ^ i>>27) * 0x94D049BB133111EB
	return i ^ i>>31
}

// terms are the inputs of one kind of operation: sums and products are exact in any order, and few
// results are 0 or all ones.
type terms[T any] struct {
	name    string
	two     func(a, b T) T
	series  *series[T]
	ordered bool // two does not commute
}

// elements are a type of elements, how they are combined, and the desks of ranks.
type elements[T comparable] struct {
	name  string
	moved *series[T]
	terms []terms[T]
	desks []*desk[T]
}

func (e *elements[T]) String() string { return e.name }

// ops is how many operations there are.
func (e *elements[T]) ops() int { return len(e.terms) }

// extend prepares for n ranks that contribute at most so much, also of a series.
func (e *elements[T]) extend(reduced *series[T], n, length int) {
	e.moved.extend(n, length)
	reduced.extend(n, length)
	for len(e.desks) < n {
		e.desks = append(e.desks, &desk[T]{hole: e.moved.conv(mixed(1 << 40))})
	}
}

// forget gives the memory of the desks back.
func (e *elements[T]) forget() { e.desks = nil }

// plain are elements that all collectives take.
type plain[T comparable] struct {
	elements[T]
	op []collectives.Op[T] // of terms
}

// newPlain gives each operation the series for its name, or the one that is moved.
func newPlain[T comparable](name string, moved *series[T], ops []reduction[T], special map[string]*series[T]) *plain[T] {
	p := &plain[T]{elements: elements[T]{name: name, moved: moved}}
	for _, op := range ops {
		s := special[op.name]
		if s == nil {
			s = moved
		}
		p.add(op, s)
	}
	return p
}

func (p *plain[T]) add(op reduction[T], s *series[T]) {
	p.terms, p.op = append(p.terms, terms[T]{op.name, op.two, s, false}), append(p.op, op.op)
}

func (p *plain[T]) problem(n, length, op int) subject { return newProblem(p, n, length, op) }

func integerElements[T collectives.Integer](name string) *plain[T] {
	wide := &series[T]{conv: func(h uint64) T { return T(h) }}
	rare := &series[T]{conv: func(h uint64) T { return T(h>>8) * T(1-min(h%32, 1)) }}
	special := map[string]*series[T]{
		"prod": {conv: func(h uint64) T { return T(h) | 1 }},
		"band": {conv: func(h uint64) T { return ^rare.conv(h) }},
		"land": {conv: func(h uint64) T { return T(h>>8|1) * T(min(h%32, 1)) }},
		"bor":  rare,
		"lor":  rare,
		"lxor": {conv: func(h uint64) T { return T(h>>8) * T(h&1) }},
	}
	return newPlain(name, wide, integers[T](), special)
}

func floatElements[T ~float32 | ~float64](name string) *plain[T] {
	wide := &series[T]{conv: func(h uint64) T { return T(int(h>>47) - 1<<16) }} // sums of 64 are exact in 24 bits
	return newPlain(name, wide, reals[T](), map[string]*series[T]{
		"prod": {conv: func(h uint64) T { return []T{1, 2, 0.5, -1, -2}[h%5] }},
	})
}

func complexElements[T complex64 | complex128](name string) *plain[T] {
	wide := &series[T]{conv: func(h uint64) T {
		return T(complex(float64(h>>47)-1<<16, float64(h<<17>>47)))
	}}
	return newPlain(name, wide, numbers[T](), map[string]*series[T]{
		"prod": {conv: func(h uint64) T { return []T{1, 1i, -1, 2i, -0.5}[h%5] }},
	})
}

func boolElements[T ~bool](name string) *plain[T] {
	even := &series[T]{conv: func(h uint64) T { return h&1 == 0 }}
	ops := logical(func(v T) bool { return bool(v) }, func(b bool) T { return T(b) })
	return newPlain(name, even, ops, map[string]*series[T]{
		"land": {conv: func(h uint64) T { return h%32 != 0 }},
		"lor":  {conv: func(h uint64) T { return h%32 == 0 }},
	})
}

// composing adds the operation that does not commute, of maps that have an inverse: so
// no rank's part is lost among those of others.
func composing[T uint8 | uint64](p *plain[T]) *plain[T] {
	one := T(1) << (bits.Len64(uint64(^T(0))) / 2) // in the upper half
	p.add(reduction[T]{"composition", collectives.Custom(compose[T], false), composition[T]},
		&series[T]{conv: func(h uint64) T { return T(h) | one }})
	p.terms[len(p.terms)-1].ordered = true
	return p
}

// A move is a record: the map x -> Scale*x + Shift modulo 2^64, and a mark. It has padding.
type move struct {
	Mark         uint8
	Scale, Shift uint64
}

// after does m first, and then next. It does not commute.
func (m move) after(next move) move {
	return move{m.Mark ^ next.Mark, m.Scale * next.Scale, m.Scale*next.Shift + m.Shift}
}

// recordElements are records of a size that is no power of 2, which are combined whole.
func recordElements() *plain[move] {
	odd := &series[move]{conv: func(h uint64) move { return move{uint8(h), h | 1, h >> 7} }}
	p := newPlain("record", odd, nil, nil)
	p.add(reduction[move]{"moves", collectives.CustomOf(func(acc, in []move) {
		for i, next := range in {
			acc[i] = acc[i].after(next)
		}
	}, false), move.after}, odd)
	p.terms[0].ordered = true
	return p
}

// locs are values with indices, which only two collectives take.
type locs[V collectives.Real] struct {
	elements[collectives.Loc[V]]
}

func (l *locs[V]) problem(n, length, op int) subject {
	return &locProblem[V]{newResults(&l.elements, n, length, op)}
}

// locElements have many equal values, so that indices decide.
func locElements[V collectives.Real](name string) kind {
	type loc = collectives.Loc[V]
	few := &series[loc]{conv: func(h uint64) loc { return loc{Value: V(h % 11), Index: int(h >> 44)} }}
	better := func(first func(a, b V) bool) func(a, b loc) loc {
		return func(a, b loc) loc {
			if first(b.Value, a.Value) || a.Value == b.Value && b.Index < a.Index {
				return b
			}
			return a
		}
	}
	return &locs[V]{elements[loc]{name: "Loc of " + name, moved: few, terms: []terms[loc]{
		{"minloc", better(func(a, b V) bool { return a < b }), few, false},
		{"maxloc", better(func(a, b V) bool { return a > b }), few, false},
	}}}
}

// A kind is elements of some type.
type kind interface {
	String() string
	ops() int
	forget()
	// problem has the inputs of n ranks for a test of an operation.
	problem(n, length, op int) subject
}

// Two types are tried most, one of them where bytes take the time. The last operation of
// both does not commute.
func wordElements() *plain[uint64] { return composing(integerElements[uint64]("uint64")) }
func byteElements() *plain[uint8]  { return composing(integerElements[uint8]("uint8")) }

// plainKinds are all types of elements, and two that a program has named.
func plainKinds() []kind {
	return []kind{
		integerElements[int8]("int8"), integerElements[int16]("int16"), integerElements[int32]("int32"),
		integerElements[int64]("int64"), integerElements[int]("int"), byteElements(), integerElements[uint16]("uint16"),
		integerElements[uint32]("uint32"), wordElements(), integerElements[uint]("uint"),
		floatElements[float32]("float32"), floatElements[float64]("float64"), floatElements[celsius]("celsius"),
		complexElements[complex64]("complex64"), complexElements[complex128]("complex128"),
		boolElements[bool]("bool"), boolElements[truth]("truth"), recordElements(),
	}
}

// locKinds are all types of values with indices.
func locKinds() []kind {
	return []kind{
		locElements[int8]("int8"), locElements[int16]("int16"), locElements[int32]("int32"), locElements[int64]("int64"),
		locElements[int]("int"), locElements[uint8]("uint8"), locElements[uint16]("uint16"), locElements[uint32]("uint32"),
		locElements[uint64]("uint64"), locElements[uint]("uint"), locElements[float32]("float32"),
		locElements[float64]("float64"), locElements[celsius]("celsius"),
	}
}
