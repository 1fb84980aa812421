package ranking

import (
	"bytes"
	"slices"
)

// Kept is a call that a server keeps, although its client may have ended.
type Kept struct {
	Call    [16]byte
	Attempt uint32
	Server  Server
	Addr    string
	Service string
	Codec   string
	Done    bool // there is an outcome
}

// KeptMax bounds the kept calls in the report of an agent.
const KeptMax = 1 << 15

// shelf holds the kept calls in the subtree of a child.
type shelf struct {
	child uint64
	list  []Kept
}

// Keeps is the table of kept calls of an agent. It is soft state: children report it again to each
// new parent. Each change increments Version.
type Keeps struct {
	Version uint64
	shelves []shelf
}

// Report replaces the earlier report of a child.
func (k *Keeps) Report(child uint64, list []Kept) {
	k.Drop(child)
	if len(list) > 0 {
		k.shelves = append(k.shelves, shelf{child, list})
		k.Version++
	}
}

// Drop removes a child.
func (k *Keeps) Drop(child uint64) {
	n := len(k.shelves)
	k.shelves = slices.DeleteFunc(k.shelves, func(s shelf) bool { return s.child == child })
	if len(k.shelves) != n {
		k.Version++
	}
}

// All returns the kept calls in the order of their names, each once: the latest attempt, at the
// latest incarnation of its server.
func (k *Keeps) All() []Kept {
	var all []Kept
	for _, s := range k.shelves {
		all = append(all, s.list...)
	}
	slices.SortStableFunc(all, func(a, b Kept) int {
		if c := bytes.Compare(a.Call[:], b.Call[:]); c != 0 {
			return c
		}
		return -a.compare(b)
	})
	all = slices.CompactFunc(all, func(a, b Kept) bool { return a.Call == b.Call })
	return all[:min(len(all), KeptMax)]
}

// compare returns 1 if a is a later attempt than b, or is at a later incarnation, or is done and b
// is not.
func (a Kept) compare(b Kept) int {
	done := func(x Kept) uint64 {
		if x.Done {
			return 1
		}
		return 0
	}
	return slices.Compare(
		[]uint64{uint64(a.Attempt), a.Server.Incarnation, done(a)},
		[]uint64{uint64(b.Attempt), b.Server.Incarnation, done(b)})
}

// Find returns the latest attempt of a call.
func (k *Keeps) Find(call [16]byte) (best Kept, ok bool) {
	for _, s := range k.shelves {
		for _, one := range s.list {
			if one.Call == call && (!ok || one.compare(best) > 0) {
				best, ok = one, true
			}
		}
	}
	return best, ok
}
