// Package fifo is an unbounded FIFO queue: a slow receiver never blocks a sender. Such receivers
// are a process that does not read its lifeline, and a terminal that nobody scrolls.
package fifo

import "sync"

// A Box delivers the posted items in the order of Post, in a goroutine of its own. The goroutine
// runs only while there are items, and calls deliver for one group of items at a time.
type Box[T any] struct {
	deliver func(items []T) error

	mu       sync.Mutex
	items    []T  // not delivered yet
	delivers bool // the goroutine runs
	shut     bool
	idle     sync.Cond
}

// New returns a box. deliver gets one item or more; an error shuts the box.
func New[T any](deliver func(items []T) error) *Box[T] {
	b := &Box[T]{deliver: deliver}
	b.idle.L = &b.mu
	return b
}

// Post appends an item to the queue. A box that is shut drops the item.
func (b *Box[T]) Post(item T) { b.post(item, true) }

// PostIfIdle is Post for items that repeat: the item is dropped while a delivery is in progress.
func (b *Box[T]) PostIfIdle(item T) { b.post(item, false) }

func (b *Box[T]) post(item T, always bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut || b.delivers && !always {
		return
	}
	b.items = append(b.items, item)
	if !b.delivers {
		b.delivers = true
		go b.run()
	}
}

// run delivers until no item is left, or the box is shut.
func (b *Box[T]) run() {
	for items := b.take(); len(items) > 0; items = b.take() {
		if b.deliver(items) != nil {
			b.Shut()
		}
	}
}

// take returns the items to deliver now; if there are none, the goroutine ends.
func (b *Box[T]) take() (items []T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, b.items = b.items, nil
	if b.delivers = len(items) > 0; !b.delivers {
		b.idle.Broadcast()
	}
	return items
}

// Shut makes the box drop all items that are not delivered, and all later ones.
func (b *Box[T]) Shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut, b.items = true, nil
	b.idle.Broadcast()
}

// Flush waits until all items are delivered, or the box is shut.
func (b *Box[T]) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.delivers && !b.shut {
		b.idle.Wait()
	}
}
