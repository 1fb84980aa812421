// Package fifo hands things on in order, and lets nobody wait for who takes them: a process
// that does not read its lifeline, a terminal that nobody scrolls.
package fifo

import "sync"

// A Box delivers what is posted. A goroutine of its own does so, for as long as there is
// something; one at a time, so all comes in the order in which it was posted.
type Box[T any] struct {
	deliver func(items []T) error

	mu       sync.Mutex
	items    []T  // not delivered yet
	delivers bool // the goroutine is there
	shut     bool
	idle     sync.Cond
}

// New returns a box. Deliver gets one item or more; an error shuts the box.
func New[T any](deliver func(items []T) error) *Box[T] {
	b := &Box[T]{deliver: deliver}
	b.idle.L = &b.mu
	return b
}

// Post has an item delivered after those before it. A box that is shut takes none.
func (b *Box[T]) Post(item T) { b.post(item, true) }

// PostIfIdle is Post of an item of which there will be others like it: it is left out while
// something is being delivered.
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

// run delivers until nothing is left, or the box is shut.
func (b *Box[T]) run() {
	for items := b.take(); len(items) > 0; items = b.take() {
		if b.deliver(items) != nil {
			b.Shut()
		}
	}
}

// take returns what is to be delivered now; nothing: the goroutine ends.
func (b *Box[T]) take() (items []T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, b.items = b.items, nil
	if b.delivers = len(items) > 0; !b.delivers {
		b.idle.Broadcast()
	}
	return items
}

// Shut has the box take nothing any more, and forget what is not delivered.
func (b *Box[T]) Shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut, b.items = true, nil
	b.idle.Broadcast()
}

// Flush waits until all is delivered, or the box is shut.
func (b *Box[T]) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.delivers && !b.shut {
		b.idle.Wait()
	}
}
