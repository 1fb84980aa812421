package match

// longQueue is the length from which a queue has an index. A search through fewer entries takes less
// than two microseconds, and short queues pay nothing for indexes.
const longQueue = 256

// anyTag is the line of an index that holds receives which take several tags.
const anyTag = Any

// An index finds the earliest entry of a long queue with a tag without a search through the others:
// a program may receive 200,000 messages from the last tag to the first. An index has a line of
// entries for each tag, in the order of the queue.
//
// An entry that leaves the queue stays in its line until a search reaches it there or the index is
// rebuilt. The number of the entry shows that it has left, because no number is given twice.
type index[T any] struct {
	lines   map[int]*line[T]
	entries int // in all lines, with those that have left the queue
	long    int // the queue has an index while it has more entries than this
}

type line[T any] struct {
	items []numbered[T]
}

type numbered[T any] struct {
	item   *T
	number uint64
}

func newIndex[T any](long int) *index[T] { return &index[T]{lines: map[int]*line[T]{}, long: long} }

// add puts an entry at the end of the line of its tag.
func (x *index[T]) add(tag int, item *T, number uint64) {
	l := x.lines[tag]
	if l == nil {
		l = &line[T]{}
		x.lines[tag] = l
	}
	l.items = append(l.items, numbered[T]{item, number})
	x.entries++
}

// first returns the first entry in the line of a tag that is still in the queue and that takes
// accepts (nil: any), or nil.
func (x *index[T]) first(tag int, waits func(*T, uint64) bool, takes func(*T) bool) *T {
	l := x.lines[tag]
	if l == nil {
		return nil
	}
	for len(l.items) > 0 && !waits(l.items[0].item, l.items[0].number) {
		l.items[0].item = nil // the line must not keep the item alive
		l.items = l.items[1:]
		x.entries--
	}
	for _, e := range l.items {
		if waits(e.item, e.number) && (takes == nil || takes(e.item)) {
			return e.item
		}
	}
	if len(l.items) == 0 {
		delete(x.lines, tag)
	}
	return nil
}

// stale reports whether the index of a queue of n entries holds so many entries that have left the
// queue that it must be rebuilt.
func (x *index[T]) stale(n int) bool { return x.entries > 2*n+x.long }

// without returns the index of a queue that has shrunk to n entries, or nil when the queue is far
// below the length that needs an index.
func (x *index[T]) without(n int) *index[T] {
	if x == nil || n <= x.long/4 {
		return nil
	}
	return x
}

// lineOf is the line of a receive that requests this tag, Any, or a value of Loosely.
func lineOf(want int) int {
	if want == Any || want >= 1<<looseShift {
		return anyTag
	}
	return want
}
