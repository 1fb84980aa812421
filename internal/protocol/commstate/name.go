package commstate

import "strconv"

// A Name identifies a communicator in errors and diagnoses. The second communicator that Split
// makes of the world is "split#2 of world", its first duplicate "dup of split#2": a name has two
// labels at any depth. The third result of repeated shrinks of the world is "world#3". Children are
// counted at this member; after a CreateGroup the counts of members may differ.
type Name struct {
	label   string // in the names of children
	text    string
	repairs int // since the communicator whose label and text these were:
	base    [2]string
	made    map[Kind]int
}

// NameOf returns the name of a communicator that was not made by a call on another communicator.
func NameOf(text string) Name { return Name{label: text, text: text} }

// RepairedName returns the name of a communicator that has been repaired the given number of times.
func RepairedName(base string, repairs int) Name {
	if repairs == 0 {
		return NameOf(base)
	}
	text := base + nth(repairs)
	return Name{label: text, text: text, repairs: repairs, base: [2]string{base, base}}
}

// String returns the text of the name.
func (n *Name) String() string { return n.text }

// Repairs returns the name before the repairs of its communicator, and their number.
func (n *Name) Repairs() (base string, times int) {
	if n.repairs == 0 {
		return n.text, 0
	}
	return n.base[1], n.repairs
}

// Child returns the name of the communicator that a call on this communicator makes, and counts
// the call.
func (n *Name) Child(kind Kind) Name {
	if kind == KindShrink || kind == KindReplace { // both count as repairs
		base, number := n.base, nth(n.repairs+1)
		if n.repairs == 0 {
			base = [2]string{n.label, n.text}
		}
		return Name{label: base[0] + number, text: base[1] + number, repairs: n.repairs + 1, base: base}
	}
	if n.made == nil {
		n.made = map[Kind]int{}
	}
	n.made[kind]++
	label := kind.String()
	if n.made[kind] > 1 {
		label += nth(n.made[kind])
	}
	return Name{label: label, text: label + " of " + n.label}
}

func nth(i int) string { return "#" + strconv.Itoa(i) }
