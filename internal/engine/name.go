package engine

import (
	"strconv"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// A name identifies a communicator in errors and diagnoses. The second communicator that Split
// makes of the world is "split#2 of world", its first duplicate "dup of split#2": a name has two
// labels at any depth. The third result of repeated shrinks of the world is "world#3". Children are
// counted at this member; CreateGroup may make other members count further.
type name struct {
	label   string // in the names of children
	text    string
	shrinks int // since the communicator whose label and text these were:
	base    [2]string
	made    map[commstate.Kind]int
}

func rootName(text string) name { return name{label: text, text: text} }

// repairedName returns the name of a communicator that has been repaired the given number of times.
func repairedName(base string, repairs int) name {
	if repairs == 0 {
		return rootName(base)
	}
	text := base + count(repairs)
	return name{label: text, text: text, shrinks: repairs, base: [2]string{base, base}}
}

// Repairs returns the name of c before its repairs, and their number.
func Repairs(c *Comm) (base string, times int) {
	if c.name.shrinks == 0 {
		return c.name.text, 0
	}
	return c.name.base[1], c.name.shrinks
}

// child returns the name of the communicator that a call on this one makes.
func (n *name) child(kind commstate.Kind) name {
	if kind == commstate.KindShrink || kind == commstate.KindReplace { // repairs are counted alike
		base, number := n.base, count(n.shrinks+1)
		if n.shrinks == 0 {
			base = [2]string{n.label, n.text}
		}
		return name{label: base[0] + number, text: base[1] + number, shrinks: n.shrinks + 1, base: base}
	}
	if n.made == nil {
		n.made = map[commstate.Kind]int{}
	}
	n.made[kind]++
	label := kind.String()
	if n.made[kind] > 1 {
		label += count(n.made[kind])
	}
	return name{label: label, text: label + " of " + n.label}
}

func count(i int) string { return "#" + strconv.Itoa(i) }

// Name returns the name of c in errors and diagnoses.
func (c *Comm) Name() string {
	if given := c.given.Load(); given != nil {
		return *given
	}
	return c.name.text
}

// SetName has errors and diagnoses call c so at this process; "" undoes it.
func (c *Comm) SetName(text string) {
	if text == "" {
		c.given.Store(nil)
		return
	}
	c.given.Store(&text)
}

// Blockless reports whether c has no block in memory although its members share some, and others of
// this process can have one: its collectives and agreements use messages.
func (c *Comm) Blockless() bool {
	return c.p.memory.shares && !c.shared && c.p.others.isNear(c.group.Procs)
}
