package daemonclient

// A Subject is the node that a note is about: the first argument that daemon.Host.Note gets, where
// there is one.
type Subject interface {
	// Node returns its number, and whether it was declared dead.
	Node() (number int, isLost bool)
	// Name returns its name.
	Name() string
}

// Node implements Subject.
func (n *node) Node() (number int, isLost bool) { return n.index, n.isLost() }

// Name implements Subject.
func (n *node) Name() string { return n.name }
