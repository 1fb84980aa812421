package match

import "fmt"

// check returns the first violation of the invariants of the package comment in a Matcher's queues,
// or nil.
func (m *Matcher) check() error {
	messages, bytes := 0, 0
	for i, p := range m.table.pages {
		used := 0
		for j, s := range p.spaces {
			if s == m.table.absent {
				continue
			}
			if err := s.check(); err != nil {
				return fmt.Errorf("context %d: %w", i*pageLen+j, err)
			}
			messages += s.unexpected
			for msg := s.arrivals.head; msg != nil; msg = msg.links[byArrival].next {
				bytes += len(msg.Data)
			}
			if s.state != Freed {
				used++
			}
		}
		over := i < len(m.table.pages)-1
		if p != m.table.sharedFreed && p != m.table.absentPage && (used != p.used || used == 0 && over) {
			return fmt.Errorf("page %d counts %d of %d used", i, p.used, used)
		}
	}
	if messages != m.messages || bytes != m.bytes {
		return fmt.Errorf("%d messages of %d bytes counted as %d of %d", messages, bytes, m.messages, m.bytes)
	}
	if m.pool.bytes > pooledBytesMax || m.pool.messages > pooledMessagesMax || m.pool.bytes < 0 {
		return fmt.Errorf("pool holds %d bytes and %d messages", m.pool.bytes, m.pool.messages)
	}
	return nil
}

func (s *space) check() error {
	if (s.state == Live) != (s.sources.Len() > 0) {
		return fmt.Errorf("%v with %d sources", s.state, s.sources.Len())
	}
	posted, err := s.wild.check(Any)
	if err != nil {
		return err
	}
	var bySrc []*Message
	for src := range s.sources.Len() {
		n, err := s.sources.At(src).posted.check(src)
		if err != nil {
			return err
		}
		posted += n
		chainOf, err := s.sources.At(src).messages.check(bySource)
		if err != nil {
			return err
		}
		bySrc = append(bySrc, chainOf...)
	}
	arrivals, err := s.arrivals.check(byArrival)
	if err != nil {
		return err
	}
	if posted != s.posted || len(arrivals) != s.unexpected {
		return fmt.Errorf("%d receives counted as %d, %d messages as %d", posted, s.posted, len(arrivals), s.unexpected)
	}
	if s.state != Live && posted > 0 || s.state != Live && s.state != Pending && len(arrivals) > 0 {
		return fmt.Errorf("%v with %d receives and %d messages", s.state, posted, len(arrivals))
	}
	if s.state == Live {
		return s.checkLive(bySrc, arrivals)
	}
	return nil
}

// checkLive compares the two chains and searches for a message and a posted receive that match.
func (s *space) checkLive(bySrc, arrivals []*Message) error {
	if len(bySrc) != len(arrivals) {
		return fmt.Errorf("%d messages by source, %d by arrival", len(bySrc), len(arrivals))
	}
	k := 0
	for src := range s.sources.Len() { // stable: each source's chain is a subsequence of the arrivals
		for _, msg := range arrivals {
			if msg.Src != src {
				continue
			}
			if bySrc[k] != msg {
				return fmt.Errorf("chain of source %d disagrees with the arrivals", src)
			}
			k++
		}
	}
	for _, msg := range arrivals {
		if s.wanted(msg) {
			return fmt.Errorf("message (%d, %d) waits beside a receive that takes it", msg.Src, msg.Tag)
		}
	}
	return nil
}

func (q *recvQueue) check(src int) (n int, err error) {
	var prev *Recv
	for r := q.head; r != nil; prev, r = r, r.next {
		if r.prev != prev || !r.queued || r.Src != src || prev != nil && prev.seq >= r.seq {
			return 0, fmt.Errorf("posted queue of %d broken at slot %d", src, r.Slot)
		}
		n++
	}
	if q.tail != prev {
		return 0, fmt.Errorf("posted queue of %d has a wrong tail", src)
	}
	if q.length != n {
		return 0, fmt.Errorf("posted queue of %d counts %d of %d", src, q.length, n)
	}
	waiting := 0
	if q.index != nil {
		waiting = q.index.waiting(waitsAs)
	}
	if q.index != nil && waiting != n {
		return 0, fmt.Errorf("the index of the posted queue of %d has %d of %d", src, waiting, n)
	}
	return n, nil
}

func (q *messageQueue) check(c chain) (all []*Message, err error) {
	var prev *Message
	for msg := q.head; msg != nil; prev, msg = msg, msg.links[c].next {
		if msg.links[c].prev != prev || msg.where != queued {
			return nil, fmt.Errorf("chain %d broken at message (%d, %d)", c, msg.Src, msg.Tag)
		}
		all = append(all, msg)
	}
	if q.tail != prev {
		return nil, fmt.Errorf("chain %d has a wrong tail", c)
	}
	if q.length != len(all) {
		return nil, fmt.Errorf("chain %d counts %d of %d", c, q.length, len(all))
	}
	waiting := 0
	if q.index != nil {
		waiting = q.index.waiting(isKeptAs)
	}
	if q.index != nil && waiting != len(all) {
		return nil, fmt.Errorf("the index of chain %d has %d of %d", c, waiting, len(all))
	}
	return all, nil
}

// waiting counts the entries of an index that are still in the queue.
func (x *index[T]) waiting(waits func(*T, uint64) bool) (n int) {
	for _, l := range x.lines {
		for _, e := range l.items {
			if waits(e.item, e.number) {
				n++
			}
		}
	}
	return n
}
